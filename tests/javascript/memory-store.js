/** What a browser keeps, in memory. */
export function memoryStore() {
  const values = new Map();
  return {
    read: (key, fallback) => (values.has(key) ? JSON.parse(values.get(key)) : fallback),
    write: (key, value) => values.set(key, JSON.stringify(value)),
    forgetAll: () => values.clear(),
  };
}
