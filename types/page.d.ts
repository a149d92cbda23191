// What the pages' scripts meet and don't define: libraries without types, and what the REST API answers with.

declare module "highlight" {
  const highlighter: any;
  export default highlighter;
}

declare const mermaid: any;

// Written before the worker's script by conversations/web/installed.py.
declare const RELEASE: string;
declare const KEPT: string[];

/** What the API answers with; its schema, at /api/v1/schema/, says what that holds. */
type Row = Record<string, any>;

type Thread = Row & {
  id: string;
  title: string;
  assistant?: string | null;
  model?: string;
  model_note?: string | null;
  remembers?: boolean;
  temporary?: boolean;
  pinned?: boolean;
  archived?: boolean;
  tags?: string[];
  forked_from?: { thread: string; message: string | null } | null;
  forks?: string[];
};

type Message = Row & { id: string; position: number; role: string; status: string; text: string; created_at: string };

type Reply = Row & {
  id: string;
  status: string;
  error?: Row | null;
  request?: string | null;
  ways?: string[];
  fallback_model?: string | null;
  model?: string | null;
  provider?: string | null;
  ended_at?: string | null;
};

/** What a reply was given of a file, in words such as `pages 3, 7–9`. */
type GivenFile = { id: string; name: string; words: string; first: number | null };

/** A page of the web that was read for an answer, or that a search for it found. */
type Source = { title: string; url: string; host: string; read: boolean };

/** Opens a file beside the conversation, at a part of it; the marks are those of the reply. */
type OpenFile = (id: string, options?: { name?: string; part?: number | null; reply?: string | null }) => void;

/** The models beside the one that answered: whether there are any, and the menu of them all. */
type OtherModels = {
  are: () => boolean;
  open: (button: HTMLElement, reply: Reply, onChosen: (model: string) => void) => void;
};

type Notice = { words: string; action?: string; run?: () => void; warning?: boolean };

type Store = {
  read: (key: string, fallback: any) => any;
  write: (key: string, value: any) => void;
  forgetAll: () => void;
};
