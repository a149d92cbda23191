import js from "@eslint/js";

/** What is likely a mistake, not how code looks. Names that nobody defines are the type checker's. */
export default [
  { ignores: ["node_modules/", ".venv/", ".local/", "clients/typescript/dist/"] },
  js.configs.recommended,
  {
    rules: {
      "array-callback-return": "error",
      "consistent-return": "error",
      eqeqeq: ["error", "always", { null: "ignore" }],
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-new-func": "error",
      "no-self-compare": "error",
      "no-undef": "off",
      "no-unused-expressions": ["error", { allowShortCircuit: true, allowTernary: true }],
      "no-unused-vars": ["error", { ignoreRestSiblings: true }],
      "no-var": "error",
      "object-shorthand": "error",
      "prefer-const": "error",
    },
  },
];
