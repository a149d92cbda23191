/** The shapes and calls of the API. Made from the schema by `make clients`; not written by hand. */

export interface Page<T> {
  next: string | null;
  previous: string | null;
  results: T[];
}

export interface AcceptedVersion {
  version: number;
}

export interface AccessAnswer {
  id: string;
  at: string;
  staff: string;
  action: ActionEnum;
  what: string;
  thread: string | null;
  object: string;
  reason: string;
}

export type ActionEnum = "read" | "export" | "watch" | "signin";

export type ActorKindEnum = "person" | "staff" | "token" | "system" | "unknown";

export interface AddedModels {
  models: Array<string>;
}

export interface ArgumentAnswer {
  name: string;
  description: string;
  required: boolean;
}

export interface ArtifactAnswer {
  id: string;
  thread: string;
  title: string;
  kind: ArtifactKind;
  language: string;
  content?: string;
  version: number;
  size: number;
  created_at: string;
  updated_at: string;
  deleted_at: string | null;
  message: string | null;
  reply: string | null;
  preset: string;
  after_position: number;
  origin: ArtifactOrigin;
}

export type ArtifactKind = "document" | "code" | "html" | "svg" | "mermaid" | "table";

export type ArtifactOrigin = "reply" | "preset" | "hand" | "program";

export interface ArtifactShareRequest {
  days?: number;
  expires_at?: string;
  shows?: ShowsFields;
  version?: number | null;
}

export interface AssistantAnswer {
  slug: string;
  name: string;
  description: string;
}

export interface AssistantRow {
  id: number;
  slug: string;
  name: string;
  description: string;
  system_prompt: string;
  provider: string;
  model: string;
  max_output_tokens: number;
  thinking_tokens: number;
  effort: Effort | BlankEnum;
  show_thinking: ShowThinkingEnum;
  reply_minutes: number;
  fallback_model: string;
  fallback_automatic: boolean;
  budget_share: number | null;
  history_tokens_high: number;
  history_tokens_low: number;
  history_turns_min: number;
  history_turns_max: number;
  total_tokens: number;
  hard_cap_tokens: number;
  memory_tokens: number;
  today_tokens: number;
  open_threads_tokens: number;
  last_conversation_tokens: number;
  recall_tokens: number;
  file_tokens: number;
  uses_memory: boolean;
  tools: Array<string>;
  filters_artifacts: boolean;
  rewriting: RewritingEnum;
  rewriting_model: string;
  cache_lifetime: CacheLifetime | BlankEnum;
  is_default: boolean;
  is_active: boolean;
  order: number;
  offered_models: Array<string>;
  fallbacks: Array<FallbackRow>;
  version: number | null;
}

export interface AssistantVersionAnswer {
  number: number;
  state: AssistantVersionAnswerStateEnum;
  note: string;
  author: string | null;
  created_at: string;
  published_at: string | null;
  content: Record<string, unknown>;
}

export type AssistantVersionAnswerStateEnum = "draft" | "current" | "earlier";

export interface AuditAnswer {
  id: string;
  at: string;
  kind: string;
  outcome: AuditAnswerOutcomeEnum;
  actor_kind: ActorKindEnum;
  actor: number | null;
  actor_name: string;
  target_kind: string;
  target: string;
  address: string;
  request_id: string;
  details: Record<string, unknown>;
  number: number | null;
  digest: string | null;
}

export type AuditAnswerOutcomeEnum = "success" | "failure" | "denied";

export interface BannerObject {
  id: number;
  version: number;
  text: string;
  level: LevelEnum;
  is_dismissable: boolean;
  ends_at: string | null;
}

export interface BannersAnswer {
  results: Array<BannerObject>;
}

export type BlankEnum = "";

export interface Book {
  format: FormatEnum;
  threads?: Array<ImportedThread>;
  memories?: Array<ImportedMemory>;
  topics?: Array<ImportedTopic>;
  preferences?: ImportedPreferences;
  instructions?: ImportedInstructions;
  prompts?: Array<ImportedPrompt>;
  projects?: Array<ImportedProject>;
}

export interface BudgetFigures {
  tokens_day: number;
  money_day: number;
  tokens_month: number;
  money_month: number;
}

export interface BudgetLimits {
  tokens_day: number | null;
  money_day: number | null;
  tokens_month: number | null;
  money_month: number | null;
  used: BudgetFigures;
}

export interface BudgetOriginAnswer {
  share: number | null;
  context_window: number;
  wanted: number;
  is_cut: boolean;
  text: string;
}

export interface BudgetRow {
  id: number;
  group: string | null;
  tokens_day: number | null;
  tokens_month: number | null;
  money_day: string | null;
  money_month: string | null;
  member_tokens_day: number | null;
  member_tokens_month: number | null;
  member_money_day: string | null;
  member_money_month: string | null;
}

export interface CacheAnswer {
  state: CacheAnswerStateEnum;
  marks: Array<MarksEnum>;
  expected: number;
  lifetime: LifetimeEnum;
  cost_five_minutes: number | null;
  cost_hour: number | null;
}

export type CacheAnswerStateEnum =
  | "none"
  | "first"
  | "cold"
  | "other_model"
  | "other_system"
  | "moved"
  | "changed"
  | "too_small"
  | "warm";

export type CacheLifetime = "5m" | "1h";

export interface CallAnswer {
  answer: CallAnswerAnswerEnum;
}

export type CallAnswerAnswerEnum = "once" | "thread" | "always" | "no";

export interface Citation {
  text: string;
  file: string;
  name: string;
  part: number | null;
  given: boolean;
}

export interface ClearingAnswer {
  thread: string;
  messages: number;
  quotes: number;
  memories: number;
  topics: number;
  titles: number;
  summaries: number;
  snapshots: number;
  kept_artifacts: number;
  held: string;
}

export type ColourEnum = "grey" | "red" | "orange" | "yellow" | "green" | "teal" | "blue" | "purple" | "pink";

export type ConnectionKind = "anthropic" | "openai" | "bedrock";

export interface ConnectionRow {
  id: number;
  slug: string;
  label: string;
  kind: ConnectionKind;
  base_url: string;
  server: string;
  region: string;
  connect_seconds: number;
  proxy: string;
  is_active: boolean;
  order: number;
  has_key: boolean;
  header_names: Array<string>;
  problem: string;
  tested_at: string | null;
  is_working: boolean | null;
  test_result: string;
}

export interface CreatedInvitation {
  id: string;
  groups: Array<string>;
  email: string;
  most_uses: number;
  uses: number;
  used_by: Array<InvitationUseAnswer>;
  made_by: string;
  works: boolean;
  created_at: string;
  expires_at: string;
  revoked_at: string | null;
  url: string;
}

export interface CreatedToken {
  id: number;
  name: string;
  scopes: Array<ScopesEnum>;
  addresses: Array<string>;
  created_at: string;
  expires_at: string;
  last_used_at: string | null;
  last_used_from: string;
  requests_minute: number | null;
  running_replies: number | null;
  tokens_day: number | null;
  token: string;
}

export interface CreatedWebhook {
  id: string;
  name: string;
  url: string;
  events: Array<EventsEnum>;
  for_all: boolean;
  is_active: boolean;
  disabled_because: DisabledBecauseEnum | BlankEnum;
  failures: number;
  failing_since: string | null;
  former_until: string | null;
  created_at: string;
  updated_at: string;
  secret: string;
}

export interface DayAnswer {
  day: string;
  text: string;
  key_moments: Array<string>;
  threads: Array<TitledThread>;
  updated_at: string;
}

export type DaysEnum = "mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun";

export interface DeliveryAnswer {
  id: string;
  type: TypeEnum;
  data: Record<string, unknown>;
  state: DeliveryAnswerStateEnum;
  attempts: number;
  status_code: number | null;
  answer: string;
  problem: string;
  milliseconds: number | null;
  created_at: string;
  attempted_at: string | null;
  delivered_at: string | null;
  due_at: string | null;
}

export type DeliveryAnswerStateEnum = "waiting" | "delivered" | "failed";

export type DisabledBecauseEnum = "failing" | "gone" | "right_lost";

export type DisplayEnum = "summarized" | "omitted";

export interface DuplicatesAnswer {
  rules: boolean;
  tool_wording: boolean;
  filtered_turns: number;
  silent: boolean;
}

export type Effort = "low" | "medium" | "high" | "xhigh" | "max";

export interface EmbedTokenAnswer {
  token: string;
  expires_at: string;
}

export interface EmbedTokenRequest {
  assertion: string;
}

export interface ErrorAnswer {
  error: ErrorObject;
}

export interface ErrorObject {
  type: string;
  code: string;
  message: string;
  details: Record<string, unknown>;
  request_id: string;
  wording?: WordingObject;
}

export type EventsEnum =
  | "reply.finished"
  | "reply.failed"
  | "artifact.created"
  | "file.read"
  | "feedback.given"
  | "limit.reached"
  | "memory.changed"
  | "content.accessed";

export interface Everything {
  all: boolean;
}

export interface ExchangeAnswer {
  thread: string;
  user_message: MessageAnswer;
  reply: ReplyAnswer;
  assistant_message: MessageAnswer | null;
  request: string | null;
}

export interface ExperimentAnswer {
  id: string;
  state: RunState;
  author: string | null;
  problem: string;
  created_at: string;
  ended_at: string | null;
  done: number;
  dataset: string;
  versions: Array<number>;
  models: Array<string>;
  judge: string;
  most_cost: number | null;
  cases: number;
}

export interface ExperimentResult {
  id: string;
  state: RunState;
  author: string | null;
  problem: string;
  created_at: string;
  ended_at: string | null;
  done: number;
  dataset: string;
  versions: Array<number>;
  models: Array<string>;
  judge: string;
  most_cost: number | null;
  cases: number;
  result: Record<string, unknown>;
}

export interface FallbackRow {
  provider: string;
  model?: string;
  order?: number;
}

export interface FateAnswer {
  kind: FateAnswerKindEnum;
  source: string;
  included: boolean;
  reason: ReasonEnum;
  count: number;
  file: string | null;
  parts: string;
  what: string;
  why: string;
}

export type FateAnswerKindEnum =
  | "message"
  | "server_tool"
  | "instructions"
  | "project_instructions"
  | "thread_instructions"
  | "memory"
  | "summary"
  | "topic"
  | "artifact"
  | "message_elsewhere"
  | "file"
  | "part"
  | "picture"
  | "content";

export interface FeedbackAnswer {
  value: ValueEnum;
  reason: FeedbackReason | BlankEnum;
  text: string;
  show_conversation: boolean;
  created_at: string;
  updated_at: string;
}

export type FeedbackReason = "wrong" | "forgot" | "made_up" | "too_long" | "unsafe" | "other";

export interface FeedbackRequest {
  value: ValueEnum;
  reason?: FeedbackReason | BlankEnum;
  text?: string;
  show_conversation?: boolean;
}

export interface FeedbackRow {
  id: string;
  value: ValueEnum;
  reason: FeedbackReason | BlankEnum;
  text: string | null;
  show_conversation: boolean;
  created_at: string;
  updated_at: string;
  state: FeedbackState;
  assignee: string | null;
  notes: string;
  assistant: string;
  provider: string;
  model: string;
  user: number;
  thread: string;
  message: string;
  request: string | null;
}

export type FeedbackState = "new" | "in_work" | "done" | "wont_do";

export interface FileAnswer {
  id: string;
  name: string;
  kind: string;
  media_type: string;
  bytes: number;
  picture_bytes: number;
  status: FileAnswerStatusEnum;
  error: ErrorObject | null;
  left_out: Array<UnreadAnswer>;
  title: string;
  pages: number | null;
  pages_read: number;
  parts: number;
  tokens: number;
  thread: string | null;
  project: string | null;
  created_at: string;
}

export type FileAnswerStatusEnum = "reading" | "ready" | "failed";

export interface FileCitedAnswer {
  text: string;
  part: number | null;
  given: boolean;
  warning: string | null;
}

export interface FileGivenAnswer {
  position: number;
  parts: string;
  whole: boolean;
  outlined: boolean;
  tokens: number;
}

export interface FileInReplyAnswer {
  reply: string;
  request: string;
  position: number;
  created_at: string;
  question: string;
  given: string;
  words: string;
  left_out: Array<FileLeftOutAnswer>;
}

export interface FileInRequestAnswer {
  id: string;
  name: string | null;
  parts: number;
  given: Array<FileGivenAnswer>;
  read: Array<FileReadAnswer>;
  left_out: Array<FileLeftOutAnswer>;
  unread: Array<UnreadAnswer>;
  without_pictures: string;
  cited: Array<FileCitedAnswer>;
}

export interface FileLeftOutAnswer {
  parts: string;
  reason: ReasonEnum;
}

export interface FileMatchAnswer {
  file: string;
  name: string;
  part: number | null;
  label: string | null;
  page: number | null;
  message: string | null;
  position: number | null;
  created_at: string;
  excerpt: string;
  words: Array<string>;
}

export interface FileReadAnswer {
  parts: string;
  tokens: number;
}

export interface FindingAnswer {
  id: string;
  finding: string;
  assistant: string;
  subject: string;
  state: FindingState;
  reason: string;
  count: number;
  tokens_month: number;
  cost_month: number | null;
  example: string | null;
  setting: string;
  first_seen_at: string;
  seen_at: string;
}

export type FindingState = "open" | "accepted" | "mended";

export interface ForgettingAnswer {
  memories: Array<string>;
  turns: Array<ForgottenTurnAnswer>;
  artifacts: number;
  topics: number;
  titles: number;
  projects: number;
  instructions: number;
  prompts: number;
  schedules: number;
  feedback: number;
  summaries: number;
  snapshots: number;
  held: string;
}

export interface ForgottenTurnAnswer {
  message: string;
  thread: string;
  position: number;
  role: RoleEnum;
  text: string;
  why: ForgottenTurnAnswerWhyEnum;
}

export type ForgottenTurnAnswerWhyEnum = "source" | "mention";

export interface ForkRequest {
  message: string;
}

export interface ForkedFrom {
  thread: string;
  message: string | null;
}

export type FormatEnum = "openbook/1";

export interface FoundAnswer {
  content: string;
  score: number;
  source: FoundSource;
  passage: FoundPassage | null;
  created_at: string;
  replaced_by: string | null;
}

export interface FoundListAnswer {
  results: Array<FoundAnswer>;
}

export interface FoundPassage {
  start: number;
  end: number;
}

export interface FoundSource {
  kind: FoundSourceKindEnum;
  id: string;
  thread: string | null;
  position: number | null;
  role: string | null;
  project: NamedProject | null;
}

export type FoundSourceKindEnum = "message" | "memory";

export interface GivenAnswer {
  replies: Array<FileInReplyAnswer>;
}

export interface GivenFile {
  file: string;
  parts?: string;
  outlined?: boolean;
}

export interface GroupAccessRow {
  assistants?: Array<string>;
  models?: Array<string>;
  connections?: Array<string>;
  tools?: Array<string>;
  sharing?: boolean;
  uploads?: boolean;
  temporary_chats?: boolean;
  export?: boolean;
}

export interface GroupLimits {
  tokens_day: number | null;
  money_day: number | null;
  tokens_month: number | null;
  money_month: number | null;
  used: BudgetFigures;
  name: string;
  own: BudgetLimits;
}

export interface GroupManagerRow {
  user: string;
}

export interface GroupRow {
  id: number;
  name: string;
  permissions: Array<string>;
  access: GroupAccessRow | null;
  sign_in: GroupSignInRow | null;
  managers: Array<GroupManagerRow>;
}

export interface GroupSignInRow {
  requires_second_factor?: boolean;
  session_hours?: number | null;
  session_idle_minutes?: number | null;
}

export interface HandOverAnswer {
  to: number;
  shares: Array<string>;
}

export interface HandOverRequest {
  to: string;
  shares?: Array<string>;
}

export interface HeldAnswer {
  held: string;
}

export interface ImportAnswer {
  threads: Array<ImportedThreadAnswer>;
  memories: number;
  branches?: number;
  longer?: Array<LongerThreadAnswer>;
  known?: Record<string, unknown>;
  not_taken?: Array<NotTakenAnswer>;
  not_taken_count?: number;
  left_out?: number;
  files?: number;
  files_left_out?: number;
  files_refused?: Array<RefusedFileAnswer>;
}

export interface ImportedArtifact {
  id?: string;
  title: string;
  kind?: ArtifactKind;
  language?: string;
  preset?: string;
  after_position?: number;
  after?: string;
  content?: string;
  versions?: Array<ImportedVersion>;
  created_at?: string;
  origin?: ArtifactOrigin;
  message?: unknown;
}

export interface ImportedBranchMessage {
  id?: string;
  role: RoleEnum;
  content: unknown;
  created_at?: string;
  status?: ImportedStatus;
  model?: string;
  offline?: boolean;
  files?: Array<GivenFile>;
  feedback?: ImportedFeedback;
  parent?: string | null;
  after_position?: number;
}

export interface ImportedFeedback {
  value: ValueEnum;
  reason?: FeedbackReason | BlankEnum;
  text?: string;
  created_at?: string;
  updated_at?: string;
}

export interface ImportedFile {
  id?: string;
  name?: string;
  kind?: string;
  media_type?: string;
  bytes?: number;
  sha256?: string;
  created_at?: string;
  path?: string | null;
}

export interface ImportedInstructions {
  about?: string;
  style?: string;
}

export interface ImportedMemory {
  id?: string;
  content: string;
  tags?: Array<string>;
  source?: string | null;
  sources?: Array<string>;
  origin?: MemoryOrigin;
  created_at?: string;
  said_at?: string;
  valid_from?: string | null;
  valid_until?: string | null;
  ended_at?: string | null;
  settled_at?: string | null;
}

export interface ImportedMessage {
  id?: string;
  role: RoleEnum;
  content: unknown;
  created_at?: string;
  status?: ImportedStatus;
  model?: string;
  offline?: boolean;
  files?: Array<GivenFile>;
  feedback?: ImportedFeedback;
}

export interface ImportedPreferences {
  time_zone?: string;
  remembers?: boolean;
  language?: string;
}

export interface ImportedProject {
  id?: string;
  name: string;
  colour?: ColourEnum;
  instructions?: string;
  assistant?: string | null;
  model?: string;
  presets?: Array<string>;
  uses_outside_memory?: boolean;
  shares_memory?: boolean;
  created_at?: string;
  files?: Array<ImportedFile>;
}

export interface ImportedPrompt {
  id?: string;
  name: string;
  text: string;
  created_at?: string;
}

export interface ImportedSource {
  thread: string;
  message?: string | null;
}

export type ImportedStatus = "complete" | "incomplete" | "refused" | "stopped" | "interrupted" | "failed";

export interface ImportedSummary {
  id?: string;
  first: number;
  last: number;
  text: string;
  key_moments?: Array<string>;
  sources?: Array<string>;
  started_at?: string;
  ended_at?: string;
  made_by?: string;
  made_at?: string;
  stale_since?: string | null;
}

export interface ImportedThread {
  id?: string;
  title?: string;
  title_through?: number;
  forked_from?: ImportedSource;
  pinned?: boolean;
  archived?: boolean;
  tags?: Array<string>;
  assistant?: string;
  created_at?: string;
  messages?: Array<ImportedMessage>;
  branches?: Array<ImportedBranchMessage>;
  artifacts?: Array<ImportedArtifact>;
  remembers?: boolean;
  model?: string;
  summaries?: Array<ImportedSummary>;
  files?: Array<ImportedFile>;
  project?: string | null;
  instructions?: string;
  uses_account_instructions?: boolean;
}

export interface ImportedThreadAnswer {
  id: string;
  message_count: number;
}

export interface ImportedTopic {
  id?: string;
  title: string;
  thread?: string | null;
  sources?: Array<string>;
  opened_at?: string;
  resolved_at?: string | null;
}

export interface ImportedVersion {
  content: string;
  created_at?: string;
  origin?: ArtifactOrigin;
  message?: unknown;
}

export interface InstructionsAnswer {
  about: string;
  style: string;
}

export interface InvitationAnswer {
  id: string;
  groups: Array<string>;
  email: string;
  most_uses: number;
  uses: number;
  used_by: Array<InvitationUseAnswer>;
  made_by: string;
  works: boolean;
  created_at: string;
  expires_at: string;
  revoked_at: string | null;
}

export interface InvitationUseAnswer {
  user: number;
  username: string;
  at: string;
}

export interface ItemAnswer {
  kind: ItemAnswerKindEnum;
  included: boolean;
  reason: ReasonEnum;
  id?: string | null;
  tokens?: number;
  exact?: boolean;
  position?: number;
  thread?: string;
  score?: number;
  passages?: Array<PassageAnswer>;
  replaced_by?: string;
  first?: number;
  last?: number;
  count?: number;
}

export type ItemAnswerKindEnum =
  | "message"
  | "range"
  | "server_tool"
  | "instructions"
  | "project_instructions"
  | "thread_instructions"
  | "memory"
  | "summary"
  | "topic"
  | "artifact";

export type LastStatusEnum = "running" | "completed" | "stopped" | "interrupted" | "failed";

export interface LeaverAnswer {
  id: number;
  username: string;
  links: number;
}

export interface LeaverShareAnswer {
  id: string;
  kind: SharedKind;
  title: string;
  shows: ShowsFields;
  views: number;
  created_at: string;
  expires_at: string;
}

export type LevelEnum = "information" | "warning";

export type LifetimeEnum = "5m" | "1h";

export interface LimitsAnswer {
  requests_minute: number | null;
  running_replies: number | null;
  tokens_day: number | null;
  running_now: number;
  tokens_used: number;
  tokens_reserved: number;
  tokens_noted: number;
  files_bytes: number | null;
  files_used: number;
  groups: Array<GroupLimits>;
  token: UseAnswer | null;
}

export interface LongerThreadAnswer {
  id: string;
  message_count: number;
  added: number;
}

export interface Look {
  reason: string;
}

export interface MadeAnswer {
  thread: string;
  reply: ReplyAnswer;
  artifact: ArtifactAnswer | null;
  request: string | null;
}

export type MarksEnum = "system" | "message";

export interface MatchAnswer {
  message: string;
  position: number;
  role: RoleEnum;
  created_at: string;
  excerpt: string;
  words: Array<string>;
}

export interface McpCallAnswer {
  id: string;
  thread: string;
  reply: string;
  call_id: string;
  tool: string;
  state: McpCallAnswerStateEnum;
  answer: McpCallAnswerAnswerEnum | BlankEnum;
  created_at: string;
  ended_at: string | null;
}

export type McpCallAnswerAnswerEnum = "once" | "thread" | "always" | "no";

export type McpCallAnswerStateEnum = "asked" | "allowed" | "refused" | "started" | "done" | "failed" | "unknown";

export interface MemoryAnswer {
  id: string;
  content: string;
  tags: Array<string>;
  project: NamedProject | null;
  origin: MemoryOrigin;
  source: SourceAnswer | null;
  sources: Array<SourceAnswer>;
  created_at: string;
  said_at: string;
  valid_from: string | null;
  valid_until: string | null;
  ended_at: string | null;
  superseded_by: string | null;
  supersedes: Array<string>;
}

export type MemoryOrigin = "conversation" | "hand" | "program";

export interface MemoryScopeAnswer {
  project: NamedProject | null;
  outside: boolean;
  shared: Array<NamedProject>;
  closed: number;
  text: string;
}

export interface MessageAnswer {
  id: string;
  position: number;
  role: RoleEnum;
  content: Array<Record<string, unknown>>;
  text: string;
  citations: Array<Citation>;
  sources: Array<WebSourceAnswer>;
  status: string;
  created_at: string;
  token_count: number;
  model: string | null;
  client_message_id: string | null;
  parent: string | null;
  versions: Array<string>;
  version: number;
  version_count: number;
  reply: ReplyAnswer | null;
  feedback?: FeedbackAnswer;
}

export interface MessageRequest {
  content?: unknown;
  files?: unknown;
  client_message_id?: unknown;
  assistant?: string | null;
  model?: string;
  thread_model?: string;
  project?: string | null;
  edits?: unknown;
  temporary?: boolean;
}

export type ModeEnum = "adaptive" | "enabled" | "disabled" | "between_tools";

export interface ModelAnswer {
  id: string;
  name: string;
  provider: string;
  context_window: number;
  max_output: number;
  images: boolean;
  tools: boolean;
  thinking: boolean;
  memory: boolean;
  assistants: Array<string>;
  cut_for: Array<string>;
  default_of: Array<string>;
}

export interface ModelPriceRow {
  since?: string | null;
  above?: number;
  input: string;
  output: string;
  cache_write: string;
  cache_write_hour: string;
  cache_read: string;
}

export interface ModelRow {
  id: number;
  provider: string;
  name: string;
  label: string;
  context_window: number;
  max_output: number;
  thinking: ThinkingEnum;
  thinks_unasked: boolean;
  thinking_off: ThinkingOffEnum | BlankEnum;
  efforts: Array<Effort>;
  default_effort: Effort | BlankEnum;
  takes_tools: boolean;
  takes_images: boolean;
  cacheable_from: number | null;
  token_factor: number;
  small_model: string;
  uses_memory: boolean;
  system_prompt: string;
  is_active: boolean;
  order: number;
  prices: Array<ModelPriceRow>;
}

export interface ModelsAnswer {
  results: Array<ModelAnswer>;
}

export interface ModerationAnswer {
  moderator: string;
  stage: StageEnum;
  result: ResultEnum;
  labels: Array<string>;
  at: string;
}

export interface NamedProject {
  id: string;
  name: string;
}

export interface NewArtifact {
  title: string;
  kind?: ArtifactKind;
  language?: string;
  content: string;
}

export interface NewAssistantRow {
  slug: string;
  name: string;
  description?: string;
  system_prompt: string;
  provider?: string;
  model?: string;
  max_output_tokens?: number;
  thinking_tokens?: number;
  effort?: Effort | BlankEnum;
  show_thinking?: ShowThinkingEnum;
  reply_minutes?: number;
  fallback_model?: string;
  fallback_automatic?: boolean;
  budget_share?: number | null;
  history_tokens_high?: number;
  history_tokens_low?: number;
  history_turns_min?: number;
  history_turns_max?: number;
  total_tokens?: number;
  hard_cap_tokens?: number;
  memory_tokens?: number;
  today_tokens?: number;
  open_threads_tokens?: number;
  last_conversation_tokens?: number;
  recall_tokens?: number;
  file_tokens?: number;
  uses_memory?: boolean;
  tools?: Array<string>;
  filters_artifacts?: boolean;
  rewriting?: RewritingEnum;
  rewriting_model?: string;
  cache_lifetime?: CacheLifetime | BlankEnum;
  is_default?: boolean;
  is_active?: boolean;
  order?: number;
  offered_models?: Array<string>;
  fallbacks?: Array<FallbackRow>;
}

export interface NewAssistantVersion {
  content: Record<string, unknown>;
  note?: string;
}

export interface NewBudgetRow {
  group?: string | null;
  tokens_day?: number | null;
  tokens_month?: number | null;
  money_day?: string | null;
  money_month?: string | null;
  member_tokens_day?: number | null;
  member_tokens_month?: number | null;
  member_money_day?: string | null;
  member_money_month?: string | null;
}

export interface NewConnectionRow {
  slug: string;
  label: string;
  kind?: ConnectionKind;
  base_url?: string;
  server?: string;
  region?: string;
  connect_seconds?: number;
  proxy?: string;
  is_active?: boolean;
  order?: number;
  key?: string | null;
  headers?: Record<string, unknown> | null;
}

export interface NewExperiment {
  dataset: string;
  versions: Array<number>;
  models?: Array<string>;
  judge?: string;
  limit?: number | null;
  most_cost?: number | null;
}

export interface NewGroupRow {
  name: string;
  permissions?: Array<string>;
  access?: GroupAccessRow | null;
  sign_in?: GroupSignInRow | null;
  managers?: Array<GroupManagerRow>;
}

export interface NewInvitation {
  groups?: Array<number>;
  email?: string;
  uses?: number;
  days?: number;
}

export interface NewMemory {
  content: string;
  tags?: Array<string>;
  valid_until?: string | null;
}

export interface NewModelRow {
  provider: string;
  name: string;
  label: string;
  context_window: number;
  max_output: number;
  thinking?: ThinkingEnum;
  thinks_unasked?: boolean;
  thinking_off?: ThinkingOffEnum | BlankEnum;
  efforts?: Array<Effort>;
  default_effort?: Effort | BlankEnum;
  takes_tools?: boolean;
  takes_images?: boolean;
  cacheable_from?: number | null;
  token_factor?: number;
  small_model?: string;
  uses_memory?: boolean;
  system_prompt?: string;
  is_active?: boolean;
  order?: number;
  prices?: Array<ModelPriceRow>;
}

export interface NewPresetRow {
  slug: string;
  name: string;
  description?: string;
  prompt: string;
  kind?: ArtifactKind;
  language?: string;
  is_active?: boolean;
  order?: number;
  assistants?: Array<string>;
}

export interface NewProject {
  colour?: ColourEnum;
  instructions?: string;
  assistant?: string | null;
  model?: string;
  presets?: Array<string>;
  uses_outside_memory?: boolean;
  shares_memory?: boolean;
  name: string;
}

export interface NewPrompt {
  name: string;
  text: string;
  shared?: boolean;
}

export interface NewReplay {
  assistant: string;
  version?: number | null;
  rule?: string;
  days?: number;
  sample?: number | null;
  conditions?: Array<string>;
}

export interface NewSchedule {
  content: string;
  thread?: string;
  assistant?: string;
  at?: string;
  rule?: Rule;
  time_zone?: string;
}

export interface NewServer {
  name: string;
  url: string;
  header?: string;
  secret?: string;
  for_all?: boolean;
}

export interface NewThread {
  title?: string;
  assistant?: string;
  model?: string;
  project?: string | null;
  instructions?: string;
  uses_account_instructions?: boolean;
  temporary?: boolean;
}

export interface NewToken {
  days?: number;
  expires_at?: string;
  addresses?: Array<string>;
  requests_minute?: number;
  running_replies?: number;
  tokens_day?: number;
  name: string;
  scopes?: Array<ScopesEnum>;
}

export interface NewWebhook {
  name: string;
  url: string;
  events: Array<EventsEnum>;
  for_all?: boolean;
}

export interface NotTakenAnswer {
  place: string;
  what: string;
  count: number;
}

export interface NoticeAnswer {
  notice: NoticeObject | null;
  accepted_at: string | null;
}

export interface NoticeObject {
  version: number;
  title: string;
  text: string;
  published_at: string;
}

export interface OfferedModelAnswer {
  id: string;
  label: string;
  context_window: number;
  max_output: number;
  added: boolean;
}

export interface OfferedModelsAnswer {
  results: Array<OfferedModelAnswer>;
}

export interface PartAnswer {
  number: number;
  label: string;
  heading: string;
  page: number | null;
  tokens: number;
  picture: boolean;
  width: number | null;
  height: number | null;
}

export interface PartTextAnswer {
  number: number;
  label: string;
  heading: string;
  page: number | null;
  tokens: number;
  picture: boolean;
  width: number | null;
  height: number | null;
  text: string;
}

export interface PassageAnswer {
  start: number;
  end: number;
  included: boolean;
  reason: ReasonEnum;
  tokens: number;
}

export interface PatchedArtifactChange {
  title?: string;
  kind?: ArtifactKind;
  language?: string;
  content?: string;
  version?: number;
}

export interface PatchedAssistantRowChange {
  slug?: string;
  name?: string;
  description?: string;
  system_prompt?: string;
  provider?: string;
  model?: string;
  max_output_tokens?: number;
  thinking_tokens?: number;
  effort?: Effort | BlankEnum;
  show_thinking?: ShowThinkingEnum;
  reply_minutes?: number;
  fallback_model?: string;
  fallback_automatic?: boolean;
  budget_share?: number | null;
  history_tokens_high?: number;
  history_tokens_low?: number;
  history_turns_min?: number;
  history_turns_max?: number;
  total_tokens?: number;
  hard_cap_tokens?: number;
  memory_tokens?: number;
  today_tokens?: number;
  open_threads_tokens?: number;
  last_conversation_tokens?: number;
  recall_tokens?: number;
  file_tokens?: number;
  uses_memory?: boolean;
  tools?: Array<string>;
  filters_artifacts?: boolean;
  rewriting?: RewritingEnum;
  rewriting_model?: string;
  cache_lifetime?: CacheLifetime | BlankEnum;
  is_default?: boolean;
  is_active?: boolean;
  order?: number;
  offered_models?: Array<string>;
  fallbacks?: Array<FallbackRow>;
}

export interface PatchedBudgetRowChange {
  tokens_day?: number | null;
  tokens_month?: number | null;
  money_day?: string | null;
  money_month?: string | null;
  member_tokens_day?: number | null;
  member_tokens_month?: number | null;
  member_money_day?: string | null;
  member_money_month?: string | null;
}

export interface PatchedConnectionRowChange {
  label?: string;
  base_url?: string;
  server?: string;
  region?: string;
  connect_seconds?: number;
  proxy?: string;
  is_active?: boolean;
  order?: number;
  key?: string | null;
  headers?: Record<string, unknown> | null;
}

export interface PatchedFeedbackChange {
  state?: FeedbackState;
  assignee?: string | null;
  notes?: string;
}

export interface PatchedFileChange {
  project?: string;
}

export interface PatchedFindingChange {
  reason?: string;
}

export interface PatchedGroupRowChange {
  name?: string;
  permissions?: Array<string>;
  access?: GroupAccessRow | null;
  sign_in?: GroupSignInRow | null;
  managers?: Array<GroupManagerRow>;
}

export interface PatchedInstructionsChange {
  about?: string;
  style?: string;
}

export interface PatchedMemoryChange {
  content?: string;
  tags?: Array<string>;
  valid_until?: string | null;
}

export interface PatchedModelRowChange {
  provider?: string;
  name?: string;
  label?: string;
  context_window?: number;
  max_output?: number;
  thinking?: ThinkingEnum;
  thinks_unasked?: boolean;
  thinking_off?: ThinkingOffEnum | BlankEnum;
  efforts?: Array<Effort>;
  default_effort?: Effort | BlankEnum;
  takes_tools?: boolean;
  takes_images?: boolean;
  cacheable_from?: number | null;
  token_factor?: number;
  small_model?: string;
  uses_memory?: boolean;
  system_prompt?: string;
  is_active?: boolean;
  order?: number;
  prices?: Array<ModelPriceRow>;
}

export interface PatchedPreferencesChange {
  remembers?: boolean;
  time_zone?: string;
  language?: string;
}

export interface PatchedPresetRowChange {
  slug?: string;
  name?: string;
  description?: string;
  prompt?: string;
  kind?: ArtifactKind;
  language?: string;
  is_active?: boolean;
  order?: number;
  assistants?: Array<string>;
}

export interface PatchedProjectChange {
  colour?: ColourEnum;
  instructions?: string;
  assistant?: string | null;
  model?: string;
  presets?: Array<string>;
  uses_outside_memory?: boolean;
  shares_memory?: boolean;
  name?: string;
}

export interface PatchedPromptChange {
  name?: string;
  text?: string;
}

export interface PatchedScheduleChange {
  content?: string;
  at?: string;
  rule?: Rule;
  time_zone?: string;
  paused?: boolean;
}

export interface PatchedServerChange {
  url?: string;
  header?: string;
  secret?: string;
  is_active?: boolean;
  allowed?: Record<string, unknown>;
}

export interface PatchedThreadChange {
  title?: string;
  assistant?: string;
  model?: string;
  project?: string | null;
  instructions?: string;
  uses_account_instructions?: boolean;
  pinned?: boolean;
  archived?: boolean;
  tags?: Array<string>;
  active?: string;
  remembers?: boolean;
}

export interface PatchedThreadsChange {
  ids?: Array<string>;
  pinned?: boolean;
  archived?: boolean;
  project?: string | null;
  add_tags?: Array<string>;
  remove_tags?: Array<string>;
}

export interface PatchedTopicChange {
  resolved?: boolean;
}

export interface PatchedWebhookChange {
  name?: string;
  url?: string;
  events?: Array<EventsEnum>;
  is_active?: boolean;
}

export interface PreferencesAnswer {
  remembers: boolean;
  time_zone: string;
  language: string;
}

export interface PresetAnswer {
  slug: string;
  name: string;
  description: string;
  kind: ArtifactKind;
  artifact: string | null;
}

export interface PresetRequest {
  client_message_id?: unknown;
}

export interface PresetRow {
  id: number;
  slug: string;
  name: string;
  description: string;
  prompt: string;
  kind: ArtifactKind;
  language: string;
  is_active: boolean;
  order: number;
  assistants: Array<string>;
}

export interface ProblemAnswer {
  source: string;
  kind: ProblemAnswerKindEnum;
  message: string;
}

export type ProblemAnswerKindEnum = "error" | "timed_out" | "garbage" | "too_large";

export interface ProjectAnswer {
  id: string;
  name: string;
  colour: ColourEnum;
  instructions: string;
  assistant: string | null;
  model: string;
  presets: Array<string>;
  uses_outside_memory: boolean;
  shares_memory: boolean;
  thread_count?: number;
  file_count?: number;
  created_at: string;
  updated_at: string;
}

export interface PromptAnswer {
  id: string;
  name: string;
  text: string;
  variables: Array<string>;
  shared: boolean;
  created_at: string;
  updated_at: string;
}

export interface PromptsAnswer {
  results: Array<PromptAnswer>;
}

export type PurposeEnum = "reply" | "rewrite" | "artifact" | "consolidation" | "title" | "experiment" | "judge";

export interface QuotedTurnAnswer {
  line: number;
  thread: string;
  position: number;
}

export type ReasonEnum =
  | "newest"
  | "recent"
  | "shortened"
  | "over_budget"
  | "turn_limit"
  | "superseded"
  | "other_branch"
  | "fulfilled_artifact"
  | "orphan_tool"
  | "refused"
  | "failed"
  | "offline"
  | "limit"
  | "repeated"
  | "instructed"
  | "remembered"
  | "recalled"
  | "unrelated"
  | "read"
  | "unseen"
  | "unread"
  | "hidden"
  | "damaged"
  | "not_read"
  | "broken_off"
  | "offered"
  | "changed"
  | "listed"
  | "outside_part"
  | "expired"
  | "other_project"
  | "temporary";

export interface RefusalAnswer {
  category: string | null;
  message: string;
}

export interface RefusedFileAnswer {
  name: string;
  place: string;
  code: string;
  message: string;
}

export interface ReplayAnswer {
  id: string;
  state: RunState;
  author: string | null;
  problem: string;
  created_at: string;
  ended_at: string | null;
  done: number;
  assistant: string;
  version: number | null;
  rule: string;
  since: string;
  sample: number | null;
  conditions: Array<string>;
  requests: number;
  failed: Array<string>;
  report: Record<string, unknown>;
}

export interface ReplyAnswer {
  id: string;
  status: string;
  error: ErrorObject | null;
  stop_reason: string;
  refusal: RefusalAnswer | null;
  ways: Array<WaysEnum>;
  fallback_model: string | null;
  model: string | null;
  provider: string | null;
  fallback_for: string | null;
  fallback_cause: string | null;
  fallback_text: string | null;
  continues: string | null;
  ended_at: string | null;
  request: string | null;
  message_history_count: number | null;
  total_tokens: number | null;
}

export type RequestStatus = "pending" | "completed" | "failed" | "stopped" | "interrupted";

export interface ResourceAnswer {
  uri: string;
  name: string;
  description: string;
  media_type: string;
  size: number | null;
}

export interface ResourceChoice {
  uri: string;
  name?: string;
}

export interface ResourcesAnswer {
  results: Array<ResourceAnswer>;
}

export type ResultEnum = "allowed" | "marked" | "refused" | "failed";

export interface RetryRequest {
  model?: string;
}

export interface RewritingAnswer {
  outcome: RewritingAnswerOutcomeEnum;
  query: string | null;
}

export type RewritingAnswerOutcomeEnum =
  | "rewritten"
  | "not_needed"
  | "off"
  | "not_asked"
  | "failed"
  | "timed_out"
  | "empty"
  | "unchanged"
  | "by_rules";

export type RewritingEnum = "off" | "local" | "model";

export type RoleEnum = "user" | "assistant";

export interface Rule {
  days: Array<DaysEnum>;
  time: string;
}

export type RunState = "running" | "done" | "cancelled" | "failed";

export interface SavedAssistantRow {
  id: number;
  slug: string;
  name: string;
  description: string;
  system_prompt: string;
  provider: string;
  model: string;
  max_output_tokens: number;
  thinking_tokens: number;
  effort: Effort | BlankEnum;
  show_thinking: ShowThinkingEnum;
  reply_minutes: number;
  fallback_model: string;
  fallback_automatic: boolean;
  budget_share: number | null;
  history_tokens_high: number;
  history_tokens_low: number;
  history_turns_min: number;
  history_turns_max: number;
  total_tokens: number;
  hard_cap_tokens: number;
  memory_tokens: number;
  today_tokens: number;
  open_threads_tokens: number;
  last_conversation_tokens: number;
  recall_tokens: number;
  file_tokens: number;
  uses_memory: boolean;
  tools: Array<string>;
  filters_artifacts: boolean;
  rewriting: RewritingEnum;
  rewriting_model: string;
  cache_lifetime: CacheLifetime | BlankEnum;
  is_default: boolean;
  is_active: boolean;
  order: number;
  offered_models: Array<string>;
  fallbacks: Array<FallbackRow>;
  version: number | null;
  warnings: Array<string>;
}

export interface SavedBudgetRow {
  id: number;
  group: string | null;
  tokens_day: number | null;
  tokens_month: number | null;
  money_day: string | null;
  money_month: string | null;
  member_tokens_day: number | null;
  member_tokens_month: number | null;
  member_money_day: string | null;
  member_money_month: string | null;
  warnings: Array<string>;
}

export interface SavedConnectionRow {
  id: number;
  slug: string;
  label: string;
  kind: ConnectionKind;
  base_url: string;
  server: string;
  region: string;
  connect_seconds: number;
  proxy: string;
  is_active: boolean;
  order: number;
  has_key: boolean;
  header_names: Array<string>;
  problem: string;
  tested_at: string | null;
  is_working: boolean | null;
  test_result: string;
  warnings: Array<string>;
}

export interface SavedGroupRow {
  id: number;
  name: string;
  permissions: Array<string>;
  access: GroupAccessRow | null;
  sign_in: GroupSignInRow | null;
  managers: Array<GroupManagerRow>;
  warnings: Array<string>;
}

export interface SavedModelRow {
  id: number;
  provider: string;
  name: string;
  label: string;
  context_window: number;
  max_output: number;
  thinking: ThinkingEnum;
  thinks_unasked: boolean;
  thinking_off: ThinkingOffEnum | BlankEnum;
  efforts: Array<Effort>;
  default_effort: Effort | BlankEnum;
  takes_tools: boolean;
  takes_images: boolean;
  cacheable_from: number | null;
  token_factor: number;
  small_model: string;
  uses_memory: boolean;
  system_prompt: string;
  is_active: boolean;
  order: number;
  prices: Array<ModelPriceRow>;
  warnings: Array<string>;
}

export interface SavedPresetRow {
  id: number;
  slug: string;
  name: string;
  description: string;
  prompt: string;
  kind: ArtifactKind;
  language: string;
  is_active: boolean;
  order: number;
  assistants: Array<string>;
  warnings: Array<string>;
}

export interface ScheduleAnswer {
  id: string;
  thread: string | null;
  assistant: string;
  content: string;
  at: string | null;
  rule: Rule | null;
  time_zone: string;
  next_at: string | null;
  paused: boolean;
  last_due_at: string | null;
  last_sent_at: string | null;
  late: boolean;
  last_reply: string | null;
  last_status: LastStatusEnum | BlankEnum;
  last_error: string;
  created_at: string;
  updated_at: string;
}

export type ScopesEnum =
  | "read"
  | "write"
  | "export"
  | "memory"
  | "files"
  | "webhooks"
  | "servers"
  | "chat"
  | "staff"
  | "staff:content"
  | "staff:audit"
  | "staff:assistants"
  | "staff:models"
  | "staff:groups"
  | "staff:replays"
  | "staff:feedback"
  | "staff:invitations"
  | "scim";

export interface SecretAnswer {
  secret: string;
}

export interface SectionAnswer {
  name: string;
  tokens: number;
  text: string | null;
  forgotten_at: string | null;
  quotes?: Array<QuotedTurnAnswer>;
  sources?: Array<WebSourceAnswer>;
}

export interface ServerAnswer {
  id: string;
  name: string;
  url: string;
  for_all: boolean;
  header: string;
  has_secret: boolean;
  signs_in: boolean;
  signed_in: boolean;
  is_active: boolean;
  fetched_at: string | null;
  problem: string;
  tools: Array<ServerToolAnswer>;
  created_at: string;
  updated_at: string;
}

export interface ServerPromptAnswer {
  name: string;
  description: string;
  arguments: Array<ArgumentAnswer>;
}

export interface ServerPromptArguments {
  arguments: Record<string, unknown>;
}

export interface ServerPromptTextAnswer {
  text: string;
}

export interface ServerPromptsAnswer {
  results: Array<ServerPromptAnswer>;
}

export interface ServerToolAnswer {
  id: string;
  name: string;
  description: string;
  schema: Record<string, unknown>;
  read_only: boolean;
  digest: string;
  state: ServerToolAnswerStateEnum;
}

export type ServerToolAnswerStateEnum = "new" | "allowed" | "changed";

export interface SessionAnswer {
  signed_in_at: string | null;
  ends_at: string;
  idle_minutes: number | null;
}

export interface ShareAnswer {
  id: string;
  url: string | null;
  kind: SharedKind;
  thread: string;
  message: string | null;
  artifact: string | null;
  version: number | null;
  shows: ShowsFields;
  views: number;
  created_at: string;
  expires_at: string;
}

export type SharedKind = "thread" | "artifact";

export type ShowThinkingEnum = "off" | "summary";

export interface ShowsFields {
  book?: boolean;
  files?: boolean;
  names?: boolean;
  title?: boolean;
}

export interface SignInBegun {
  url: string;
  issuer: string;
}

export interface SnapshotAnswer {
  id: string | null;
  thread: string | null;
  message: string | null;
  reply: string | null;
  purpose: PurposeEnum;
  round: number;
  created_at: string;
  provider: string;
  model: string;
  fallback_for: string | null;
  fallback_cause: string | null;
  fallback_text: string | null;
  switch: SwitchAnswer | null;
  max_tokens: number;
  thinking: ThinkingAnswer;
  digest: string;
  message_history_count: number;
  message_history_tokens: number;
  today_summary_present: boolean;
  open_threads_count: number;
  last_conversation_present: boolean;
  total_tokens: number;
  token_factor: number;
  budget: number;
  hard_cap: number;
  budget_origin: BudgetOriginAnswer | null;
  version: number | null;
  rules: number | null;
  sections: Array<SectionAnswer>;
  items: Array<ItemAnswer>;
  window_begins: string | null;
  fates: Array<FateAnswer>;
  files: Array<FileInRequestAnswer>;
  rewriting: RewritingAnswer;
  memory: MemoryScopeAnswer | null;
  against_duplicates: DuplicatesAnswer;
  moderation: Array<ModerationAnswer>;
  problems: Array<ProblemAnswer>;
  cache: CacheAnswer | null;
  diagnostics: Record<string, unknown> | null;
  request: Record<string, unknown> | null;
  forgotten_at: string | null;
  timings_ms: TimingsAnswer;
  thinking_ms: number | null;
  first_token_ms: number | null;
  usage: UsageAnswer;
  stop_reason: string;
  stop_details: Record<string, unknown> | null;
  status: RequestStatus;
  error: Record<string, unknown> | null;
}

export interface SourceAnswer {
  message: string;
  thread: string;
  position: number;
  created_at: string;
}

export interface StaffRequest {
  id: string;
  created_at: string;
  ended_at: string | null;
  user: number;
  thread: string;
  assistant: string;
  version: number | null;
  purpose: PurposeEnum;
  provider: string;
  model: string;
  status: RequestStatus;
  stop_reason: string;
  budget: number;
  total_tokens: number;
  usage: Record<string, unknown> | null;
  first_token_ms: number | null;
}

export type StageEnum = "message" | "files" | "reply";

export interface SwitchAnswer {
  request: string;
  provider: string;
  model: string;
  text: string;
  effects: Array<string>;
}

export interface TagAnswer {
  tag: string;
  threads: number;
}

export interface TagsAnswer {
  results: Array<TagAnswer>;
}

export interface ThinkingAnswer {
  mode: ModeEnum | BlankEnum;
  display: DisplayEnum | BlankEnum;
  effort: ThinkingAnswerEffortEnum | BlankEnum;
  room: number;
}

export type ThinkingAnswerEffortEnum = "low" | "medium" | "high" | "xhigh" | "max";

export type ThinkingEnum = "none" | "budget" | "adaptive";

export type ThinkingOffEnum = "disabled" | "between_tools";

export interface ThreadAnswer {
  id: string;
  title: string;
  assistant: string;
  model: string;
  model_note: string | null;
  created_at: string;
  updated_at: string;
  message_count: number;
  running_reply: string | null;
  remembers: boolean;
  temporary: boolean;
  project: string | null;
  instructions: string;
  uses_account_instructions: boolean;
  pinned: boolean;
  archived: boolean;
  tags: Array<string>;
  cost?: string | null;
  forked_from: ForkedFrom | null;
  forks: Array<string>;
  match?: MatchAnswer | null;
  file_match?: FileMatchAnswer | null;
}

export interface ThreadShareRequest {
  days?: number;
  expires_at?: string;
  shows?: ShowsFields;
  message?: string;
}

export interface ThreadsAnswer {
  results: Array<ThreadAnswer>;
}

export interface TimingsAnswer {
  limits: number;
  history: number;
  fixed: number;
  memory: number;
  warmth: number;
  exclusion: number;
  window: number;
  rewrite: number;
  beside: number;
  files: number;
  file_texts: number;
  rounds: number;
  tokens: number;
  cache: number;
  render: number;
  record: number;
  total: number;
}

export interface TitledThread {
  id: string;
  title: string;
}

export interface TokenAnswer {
  token: string;
}

export interface TokenDescription {
  id: number;
  name: string;
  scopes: Array<ScopesEnum>;
  addresses: Array<string>;
  created_at: string;
  expires_at: string;
  last_used_at: string | null;
  last_used_from: string;
  requests_minute: number | null;
  running_replies: number | null;
  tokens_day: number | null;
}

export interface TokenRequest {
  days?: number;
  expires_at?: string;
  addresses?: Array<string>;
  requests_minute?: number;
  running_replies?: number;
  tokens_day?: number;
  username: string;
  password: string;
  code?: string;
  name?: string;
  scopes?: Array<ScopesEnum>;
}

export interface TopicAnswer {
  id: string;
  title: string;
  thread: TitledThread | null;
  source: SourceAnswer | null;
  opened_at: string;
  resolved_at: string | null;
}

export interface TrialAnswer {
  is_working: boolean;
  words: string;
}

export type TypeEnum =
  | "ping"
  | "reply.finished"
  | "reply.failed"
  | "artifact.created"
  | "file.read"
  | "feedback.given"
  | "limit.reached"
  | "memory.changed"
  | "content.accessed";

export interface UnreadAnswer {
  what: string;
  why: UnreadAnswerWhyEnum;
  count: number;
  places: Array<string>;
  text: string;
}

export type UnreadAnswerWhyEnum = "hidden" | "damaged" | "not_read" | "broken_off";

export interface UsageAnswer {
  input_tokens: number | null;
  output_tokens: number | null;
  cache_read_input_tokens: number | null;
  cache_creation_input_tokens: number | null;
  cache_creation_1h_input_tokens: number | null;
  thinking_tokens: number | null;
  estimated_input_tokens: number | null;
  estimated_output_tokens: number | null;
}

export interface UseAnswer {
  requests_minute: number | null;
  running_replies: number | null;
  tokens_day: number | null;
  running_now: number;
  tokens_used: number;
  tokens_reserved: number;
}

export interface UsesAnswer {
  requests: number;
  replies: number;
  tokens: number;
  last: string | null;
}

export type ValueEnum = 1 | -1;

export interface VersionAnswer {
  title: string;
  kind: ArtifactKind;
  content?: string;
  version: number;
  size: number;
  origin: ArtifactOrigin;
  created_at: string;
  message: string | null;
  reply: string | null;
}

export type WaysEnum = "retry" | "continue" | "rephrase" | "fallback";

export interface WebSourceAnswer {
  title: string;
  url: string;
  host: string;
  read: boolean;
}

export interface WebhookAnswer {
  id: string;
  name: string;
  url: string;
  events: Array<EventsEnum>;
  for_all: boolean;
  is_active: boolean;
  disabled_because: DisabledBecauseEnum | BlankEnum;
  failures: number;
  failing_since: string | null;
  former_until: string | null;
  created_at: string;
  updated_at: string;
}

export interface WordingObject {
  sentences: Array<string>;
  values: Record<string, unknown>;
}

export interface Calls {
  /** Who of the staff looked at what the caller wrote, when and why, newest first. */
  "GET accesses/": {
    path: object;
    query: {
      cursor?: string;
      page_size?: number;
    };
    body: undefined;
    answer: Page<AccessAnswer>;
  };
  /** What every answer to the caller is given: about them, and how they want to be answered. */
  "GET account/instructions/": {
    path: object;
    query: object;
    body: undefined;
    answer: InstructionsAnswer;
  };
  /** Write or empty them. A thread leaves them out with `uses_account_instructions`. */
  "PATCH account/instructions/": {
    path: object;
    query: object;
    body: PatchedInstructionsChange;
    answer: InstructionsAnswer;
  };
  /** One artifact as its newest version has it. */
  "GET artifacts/{artifact_id}/": {
    path: { artifact_id: string | number };
    query: {
      deleted?: boolean;
    };
    body: undefined;
    answer: ArtifactAnswer;
  };
  /** Change an artifact. Another content makes the next version; the same one again makes none. */
  "PATCH artifacts/{artifact_id}/": {
    path: { artifact_id: string | number };
    query: object;
    body: PatchedArtifactChange;
    answer: ArtifactAnswer;
  };
  /** Delete an artifact; it can be restored. One that is deleted already stays so. */
  "DELETE artifacts/{artifact_id}/": {
    path: { artifact_id: string | number };
    query: object;
    body: undefined;
    answer: undefined;
  };
  /** An artifact as a file. */
  "GET artifacts/{artifact_id}/export/": {
    path: { artifact_id: string | number };
    query: {
      as?: "csv" | "docx" | "html" | "md" | "pdf" | "source" | "xlsx";
      version?: number;
    };
    body: undefined;
    answer: Blob;
  };
  /** Bring a deleted artifact back. One that is not deleted stays as it is. */
  "POST artifacts/{artifact_id}/restore/": {
    path: { artifact_id: string | number };
    query: object;
    body: undefined;
    answer: ArtifactAnswer;
  };
  /** Make a link that shows an artifact to whoever has it. Refused with 403 `sharing_off` where the server does not
   * allow it. */
  "POST artifacts/{artifact_id}/shares/": {
    path: { artifact_id: string | number };
    query: object;
    body: ArtifactShareRequest;
    answer: ShareAnswer;
  };
  /** The versions of an artifact, newest first. */
  "GET artifacts/{artifact_id}/versions/": {
    path: { artifact_id: string | number };
    query: {
      content?: boolean;
      cursor?: string;
      deleted?: boolean;
      page_size?: number;
    };
    body: undefined;
    answer: Page<VersionAnswer>;
  };
  /** One version of an artifact, with its content. */
  "GET artifacts/{artifact_id}/versions/{number}/": {
    path: { artifact_id: string | number; number: string | number };
    query: {
      deleted?: boolean;
    };
    body: undefined;
    answer: VersionAnswer;
  };
  /** The assistants that a thread may be opened with. */
  "GET assistants/": {
    path: object;
    query: {
      cursor?: string;
      page_size?: number;
    };
    body: undefined;
    answer: Page<AssistantAnswer>;
  };
  /** For staff who may change assistants: the versions of one, newest first. A token needs `staff:assistants`. */
  "GET assistants/{slug}/versions/": {
    path: { slug: string | number };
    query: {
      cursor?: string;
      page_size?: number;
    };
    body: undefined;
    answer: Page<AssistantVersionAnswer>;
  };
  /** Write a draft: it shapes no request until it is published, and `manage.py replay --draft` tries it on past
   * ones. */
  "POST assistants/{slug}/versions/": {
    path: { slug: string | number };
    query: object;
    body: NewAssistantVersion;
    answer: AssistantVersionAnswer;
  };
  /** Make the assistant as this version says: a draft, or an earlier one again. It holds from the next message on.
   * Assistants share presets, so these stay as they are: where the version has others, another is made and
   * answered. */
  "POST assistants/{slug}/versions/{number}/publish/": {
    path: { slug: string | number; number: string | number };
    query: object;
    body: undefined;
    answer: AssistantVersionAnswer;
  };
  /** For auditors: who did what, newest first. Takes the right to see audit events; a token needs `staff:audit`. */
  "GET audit/": {
    path: object;
    query: {
      actor?: string;
      cursor?: string;
      kind?:
        | "account_changed"
        | "account_deactivated"
        | "account_deleted"
        | "account_leaves"
        | "account_made"
        | "account_reactivated"
        | "account_stays"
        | "audit_exported"
        | "audit_pruned"
        | "backup_made"
        | "backup_restored"
        | "budget_changed"
        | "budget_exceeded"
        | "call_answered"
        | "content_accessed"
        | "email_changed"
        | "exported"
        | "file_deleted"
        | "finding_changed"
        | "forgotten"
        | "group_changed"
        | "handed_over"
        | "hold_lifted"
        | "hold_placed"
        | "imported"
        | "invitation_made"
        | "invitation_revoked"
        | "invitation_used"
        | "membership_changed"
        | "moderation_refused"
        | "notice_accepted"
        | "password_changed"
        | "password_link_made"
        | "permissions_changed"
        | "provider_linked"
        | "provider_unlinked"
        | "reauthentication"
        | "recovery_codes_made"
        | "replay_changed"
        | "retention_changed"
        | "row_added"
        | "row_changed"
        | "row_deleted"
        | "second_factor_added"
        | "second_factor_removed"
        | "server_changed"
        | "server_connected"
        | "server_removed"
        | "sessions_ended"
        | "settings_changed"
        | "share_made"
        | "share_revoked"
        | "sign_in"
        | "sign_out"
        | "sign_up"
        | "staff_address_refused"
        | "thread_cleared"
        | "thread_deleted"
        | "token_made"
        | "token_revoked"
        | "webhook_changed"
        | "webhook_deleted"
        | "webhook_made";
      outcome?: "denied" | "failure" | "success";
      page_size?: number;
      since?: string;
      target?: string;
      until?: string;
    };
    body: undefined;
    answer: Page<AuditAnswer>;
  };
  /** Exchange a username and a password for a token; with a code, where the account has a second factor. */
  "POST auth/token/": {
    path: object;
    query: object;
    body: TokenRequest;
    answer: TokenAnswer;
  };
  /** The tokens of the caller that were not revoked, newest first. Never the tokens themselves. */
  "GET auth/tokens/": {
    path: object;
    query: {
      cursor?: string;
      page_size?: number;
    };
    body: undefined;
    answer: Page<TokenDescription>;
  };
  /** Make a token. With a session, where the person has proved who they are within five minutes; with a token, for
   * no more, no longer and from nowhere else than itself. The token is in this answer and is never shown again. */
  "POST auth/tokens/": {
    path: object;
    query: object;
    body: NewToken;
    answer: CreatedToken;
  };
  /** Revoke a token, for good. It stops working at once. */
  "DELETE auth/tokens/{token_id}/": {
    path: { token_id: string | number };
    query: object;
    body: undefined;
    answer: undefined;
  };
  /** What staff tell the caller now, as it stands above pages. */
  "GET banners/": {
    path: object;
    query: object;
    body: undefined;
    answer: BannersAnswer;
  };
  /** What the caller talked about, day by day, newest first. */
  "GET days/": {
    path: object;
    query: {
      cursor?: string;
      page_size?: number;
    };
    body: undefined;
    answer: Page<DayAnswer>;
  };
  /** Exchange what a site signs about a visitor for a short token, from a page of that site. */
  "POST embed/token/": {
    path: object;
    query: object;
    body: EmbedTokenRequest;
    answer: EmbedTokenAnswer;
  };
  /** Everything of the caller in the format that `POST import/` takes: threads oldest first, what is remembered.
   * With a session, where the person has proved who they are within five minutes. 403 `export_off`: it is off. */
  "GET export/": {
    path: object;
    query: {
      as?: "json" | "zip";
    };
    body: undefined;
    answer: Book;
  };
  /** For support: what people said of replies, newest first. Takes the right to see feedback. A token shows no
   * texts unless it has the scope `staff:content` too. */
  "GET feedback/": {
    path: object;
    query: {
      assistant?: string;
      cursor?: string;
      page_size?: number;
      reason?: "forgot" | "made_up" | "other" | "too_long" | "unsafe" | "wrong";
      state?: "done" | "in_work" | "new" | "wont_do";
    };
    body: undefined;
    answer: Page<FeedbackRow>;
  };
  /** Say what becomes of it, for support who may change feedback. A token needs `staff:feedback`, and for the text
   * in the answer `staff:content` too. */
  "PATCH feedback/{feedback_id}/": {
    path: { feedback_id: string | number };
    query: object;
    body: PatchedFeedbackChange;
    answer: FeedbackRow;
  };
  /** The files of the caller, newest first. */
  "GET files/": {
    path: object;
    query: {
      cursor?: string;
      page_size?: number;
      project?: string;
    };
    body: undefined;
    answer: Page<FileAnswer>;
  };
  /** One file, and how far its reading is. */
  "GET files/{file_id}/": {
    path: { file_id: string | number };
    query: object;
    body: undefined;
    answer: FileAnswer;
  };
  /** Move a file into a project, whose threads read it from their next message on; those of another one no longer
   * do. */
  "PATCH files/{file_id}/": {
    path: { file_id: string | number };
    query: object;
    body: PatchedFileChange;
    answer: FileAnswer;
  };
  /** Delete a file with its parts, for good, and the replies that quote it because their model searched for it. */
  "DELETE files/{file_id}/": {
    path: { file_id: string | number };
    query: object;
    body: undefined;
    answer: HeldAnswer | undefined;
  };
  /** The bytes of a file, as they were uploaded. */
  "GET files/{file_id}/content/": {
    path: { file_id: string | number };
    query: object;
    body: undefined;
    answer: Blob;
  };
  /** Which parts of a file each reply was given, and why not the others, as it was recorded. */
  "GET files/{file_id}/given/": {
    path: { file_id: string | number };
    query: object;
    body: undefined;
    answer: GivenAnswer;
  };
  /** A page of a PDF as a picture: its longest side has 1,568 pixels. It is drawn when it is asked for. */
  "GET files/{file_id}/pages/{number}/": {
    path: { file_id: string | number; number: string | number };
    query: object;
    body: undefined;
    answer: Blob;
  };
  /** The parts of a file without their texts, in its order; while it is read, those that there are by now. */
  "GET files/{file_id}/parts/": {
    path: { file_id: string | number };
    query: {
      cursor?: string;
      page_size?: number;
    };
    body: undefined;
    answer: Page<PartAnswer>;
  };
  /** One part of a file with its text. */
  "GET files/{file_id}/parts/{number}/": {
    path: { file_id: string | number; number: string | number };
    query: object;
    body: undefined;
    answer: PartTextAnswer;
  };
  /** The picture of a part: the image without what it told of place and camera, or a page that has no text. */
  "GET files/{file_id}/parts/{number}/picture/": {
    path: { file_id: string | number; number: string | number };
    query: object;
    body: undefined;
    answer: Blob;
  };
  /** A small picture of an image, or of the first page of a PDF: its longest side has 400 pixels. */
  "GET files/{file_id}/thumbnail/": {
    path: { file_id: string | number };
    query: object;
    body: undefined;
    answer: Blob;
  };
  /** For staff: what the linter found about requests of the last thirty days, newest first. Takes the right to see
   * findings; a token needs `staff`. */
  "GET findings/": {
    path: object;
    query: {
      cursor?: string;
      page_size?: number;
      state?: "accepted" | "mended" | "open";
    };
    body: undefined;
    answer: Page<FindingAnswer>;
  };
  /** Accept a finding for a reason, or open it again, for staff who may change findings. Whether one is mended the
   * next look tells: that is refused. A token needs `staff:feedback`. */
  "PATCH findings/{finding_id}/": {
    path: { finding_id: string | number };
    query: object;
    body: PatchedFindingChange;
    answer: FindingAnswer;
  };
  /** Import threads and what is remembered, all or nothing. Errors name their place,
   * `threads[3].messages[17].content`. */
  "POST import/": {
    path: object;
    query: {
      ids?: "keep" | "new";
      progress?: boolean;
    };
    body: Book;
    answer: ImportAnswer | undefined;
  };
  /** For staff who may invite, and managers of groups: the invitations that the caller made, newest first. A token
   * needs `staff:invitations`. */
  "GET invitations/": {
    path: object;
    query: {
      cursor?: string;
      page_size?: number;
    };
    body: undefined;
    answer: Page<InvitationAnswer>;
  };
  /** Make an invitation. With a session, where the person has proved who they are within five minutes. */
  "POST invitations/": {
    path: object;
    query: object;
    body: NewInvitation;
    answer: CreatedInvitation;
  };
  /** Revoke an invitation, for good. Whoever has used it stays. */
  "DELETE invitations/{invitation_id}/": {
    path: { invitation_id: string | number };
    query: object;
    body: undefined;
    answer: undefined;
  };
  /** For who manages groups, and staff who may hand over links: people whose account is shut and who have links
   * that somebody could take over. Empty for everybody else. */
  "GET leavers/": {
    path: object;
    query: {
      cursor?: string;
      page_size?: number;
    };
    body: undefined;
    answer: Page<LeaverAnswer>;
  };
  /** Links of somebody who has left, newest first. What they show is not told, nor where they lead. */
  "GET leavers/{leaver_id}/shares/": {
    path: { leaver_id: string | number };
    query: {
      cursor?: string;
      page_size?: number;
    };
    body: undefined;
    answer: Page<LeaverShareAnswer>;
  };
  /** Give links of somebody who has left to somebody who is there. What each shows is copied into a thread of the
   * new owner's; address, end and views stay, names and figures are shown no more. 400 `cannot_hand_over` where
   * they may not get it. */
  "POST leavers/{leaver_id}/shares/": {
    path: { leaver_id: string | number };
    query: object;
    body: HandOverRequest;
    answer: HandOverAnswer;
  };
  /** What the caller may use, and uses now. */
  "GET limits/": {
    path: object;
    query: object;
    body: undefined;
    answer: LimitsAnswer;
  };
  /** Calls of tools that may change something, newest first: those that wait for the caller's answer, and what
   * became of the others. */
  "GET mcp-calls/": {
    path: object;
    query: {
      cursor?: string;
      page_size?: number;
    };
    body: undefined;
    answer: Page<McpCallAnswer>;
  };
  /** Say whether a call may be made. It is made when the model asks for it again: send a message that says so. */
  "POST mcp-calls/{call_id}/answer/": {
    path: { call_id: string | number };
    query: object;
    body: CallAnswer;
    answer: McpCallAnswer;
  };
  /** The caller's MCP servers, newest first, with their tools. */
  "GET mcp-servers/": {
    path: object;
    query: {
      cursor?: string;
      page_size?: number;
    };
    body: undefined;
    answer: Page<ServerAnswer>;
  };
  /** Connect an MCP server. It is not asked for its tools before `refresh/`, and none of them is offered before it
   * is allowed. Refused with 403 `server_for_all_refused` where it is for everybody, unless the caller is staff
   * and may. */
  "POST mcp-servers/": {
    path: object;
    query: object;
    body: NewServer;
    answer: ServerAnswer;
  };
  /** One MCP server, with its tools. */
  "GET mcp-servers/{server_id}/": {
    path: { server_id: string | number };
    query: object;
    body: undefined;
    answer: ServerAnswer;
  };
  /** Change an MCP server, or say which of its tools models may be offered. */
  "PATCH mcp-servers/{server_id}/": {
    path: { server_id: string | number };
    query: object;
    body: PatchedServerChange;
    answer: ServerAnswer;
  };
  /** Remove an MCP server, with what was allowed of it. */
  "DELETE mcp-servers/{server_id}/": {
    path: { server_id: string | number };
    query: object;
    body: undefined;
    answer: undefined;
  };
  /** Prompts of a server, of the caller's or for everybody; asked of it now. Else 409 `server_unreachable`. */
  "GET mcp-servers/{server_id}/prompts/": {
    path: { server_id: string | number };
    query: object;
    body: undefined;
    answer: ServerPromptsAnswer;
  };
  /** The text of a prompt with these arguments, to be looked at and sent by the caller. Nothing is sent by itself. */
  "POST mcp-servers/{server_id}/prompts/{prompt_name}/": {
    path: { server_id: string | number; prompt_name: string | number };
    query: object;
    body: ServerPromptArguments;
    answer: ServerPromptTextAnswer;
  };
  /** Read its tools anew. Those that are not as they were allowed are offered no more. Refused with 409
   * `server_unreachable` where they can't be read; `details` says why. */
  "POST mcp-servers/{server_id}/refresh/": {
    path: { server_id: string | number };
    query: object;
    body: undefined;
    answer: ServerAnswer;
  };
  /** What a server, of the caller's or for everybody, has to be read; asked of it now. Else 409
   * `server_unreachable`. */
  "GET mcp-servers/{server_id}/resources/": {
    path: { server_id: string | number };
    query: object;
    body: undefined;
    answer: ResourcesAnswer;
  };
  /** Make a file of the caller's of a resource, as if it had been uploaded: send a message with its id. */
  "POST mcp-servers/{server_id}/resources/attach/": {
    path: { server_id: string | number };
    query: object;
    body: ResourceChoice;
    answer: FileAnswer;
  };
  /** Begin a sign-in to a server, of the caller's or for everybody, by OAuth. Refused with 409
   * `server_sign_in_failed` where it asks for none or can't be trusted with one; `details` says why. */
  "POST mcp-servers/{server_id}/sign-in/": {
    path: { server_id: string | number };
    query: object;
    body: undefined;
    answer: SignInBegun;
  };
  /** End the caller's sign-in to a server; its tokens are revoked where they were given, if that can be. */
  "DELETE mcp-servers/{server_id}/sign-in/": {
    path: { server_id: string | number };
    query: object;
    body: undefined;
    answer: undefined;
  };
  /** What is remembered of the caller, newest first. */
  "GET memories/": {
    path: object;
    query: {
      at?: string;
      cursor?: string;
      ended?: boolean;
      history?: string;
      page_size?: number;
      project?: string;
      q?: string;
      tag?: string;
      thread?: string;
    };
    body: undefined;
    answer: Page<MemoryAnswer>;
  };
  /** Have something remembered. */
  "POST memories/": {
    path: object;
    query: object;
    body: NewMemory;
    answer: MemoryAnswer;
  };
  /** One memory. */
  "GET memories/{memory_id}/": {
    path: { memory_id: string | number };
    query: object;
    body: undefined;
    answer: MemoryAnswer;
  };
  /** Correct a memory. Words that came from a conversation are kept as replaced, see `?ended=true`. */
  "PATCH memories/{memory_id}/": {
    path: { memory_id: string | number };
    query: object;
    body: PatchedMemoryChange;
    answer: MemoryAnswer;
  };
  /** Forget a memory for good, as `memories/{id}/forget/` does. 200 in place of 204 tells what a legal hold keeps. */
  "DELETE memories/{memory_id}/": {
    path: { memory_id: string | number };
    query: object;
    body: undefined;
    answer: HeldAnswer | undefined;
  };
  /** Forget a memory for good, with all that tells of it: turns, summaries, what was recorded of requests. */
  "POST memories/{memory_id}/forget/": {
    path: { memory_id: string | number };
    query: object;
    body: undefined;
    answer: ForgettingAnswer;
  };
  /** What forgetting this memory would do. Changes nothing. */
  "GET memories/{memory_id}/forgetting/": {
    path: { memory_id: string | number };
    query: object;
    body: undefined;
    answer: ForgettingAnswer;
  };
  /** Undo the end of a memory. What had ended it counts as never said; it stays, with `?ended=true`. */
  "POST memories/{memory_id}/restore/": {
    path: { memory_id: string | number };
    query: object;
    body: undefined;
    answer: MemoryAnswer;
  };
  /** What a memory was given to: requests and replies, what it took in them, and when it was last given. */
  "GET memories/{memory_id}/uses/": {
    path: { memory_id: string | number };
    query: object;
    body: undefined;
    answer: UsesAnswer;
  };
  /** Forget all that is remembered of the caller, for good. What was said otherwise stays. */
  "POST memories/forget/": {
    path: object;
    query: object;
    body: Everything;
    answer: ForgettingAnswer;
  };
  /** What forgetting everything would do. Changes nothing. */
  "GET memories/forgetting/": {
    path: object;
    query: object;
    body: undefined;
    answer: ForgettingAnswer;
  };
  /** Passages of all your threads, and memories, that bear on a query, best first: what would be recalled for it. */
  "GET memories/search/": {
    path: object;
    query: {
      project?: string;
      q?: string;
    };
    body: undefined;
    answer: FoundListAnswer;
  };
  /** Forget a turn for good, as `messages/{id}/forget/` does. 200 in place of 204 tells what a legal hold keeps. */
  "DELETE messages/{message_id}/": {
    path: { message_id: string | number };
    query: object;
    body: undefined;
    answer: HeldAnswer | undefined;
  };
  /** What the caller said of this reply. */
  "GET messages/{message_id}/feedback/": {
    path: { message_id: string | number };
    query: object;
    body: undefined;
    answer: FeedbackAnswer;
  };
  /** Say whether a reply was good. Saying it again replaces what was said. */
  "POST messages/{message_id}/feedback/": {
    path: { message_id: string | number };
    query: object;
    body: FeedbackRequest;
    answer: FeedbackAnswer;
  };
  /** Take back what was said of this reply; support is shown the conversation no longer. */
  "DELETE messages/{message_id}/feedback/": {
    path: { message_id: string | number };
    query: object;
    body: undefined;
    answer: undefined;
  };
  /** Forget a turn for good: its place stays, its text goes, also from what was recorded of requests. */
  "POST messages/{message_id}/forget/": {
    path: { message_id: string | number };
    query: object;
    body: undefined;
    answer: ForgettingAnswer;
  };
  /** What forgetting this turn would do. Changes nothing. */
  "GET messages/{message_id}/forgetting/": {
    path: { message_id: string | number };
    query: object;
    body: undefined;
    answer: ForgettingAnswer;
  };
  /** The models that can be chosen for a thread or a message. */
  "GET models/": {
    path: object;
    query: object;
    body: undefined;
    answer: ModelsAnswer;
  };
  /** The notice that everybody has to accept. Until the caller has, all other calls but `GET export/` answer 403
   * `notice_not_accepted`. */
  "GET notice/": {
    path: object;
    query: object;
    body: undefined;
    answer: NoticeAnswer;
  };
  /** Accept it, for the person whose call it is. 409 `notice_changed` where this version is not the one in force. */
  "POST notice/": {
    path: object;
    query: object;
    body: AcceptedVersion;
    answer: NoticeAnswer;
  };
  /** Whether anything is remembered, and in which time zone the caller's days begin. */
  "GET preferences/": {
    path: object;
    query: object;
    body: undefined;
    answer: PreferencesAnswer;
  };
  /** Switch memory on or off, or choose a time zone. */
  "PATCH preferences/": {
    path: object;
    query: object;
    body: PatchedPreferencesChange;
    answer: PreferencesAnswer;
  };
  /** The projects of the caller, by name. */
  "GET projects/": {
    path: object;
    query: {
      counts?: boolean;
      cursor?: string;
      page_size?: number;
    };
    body: undefined;
    answer: Page<ProjectAnswer>;
  };
  /** Make a project: a folder of threads and files, with instructions and a memory of its own. */
  "POST projects/": {
    path: object;
    query: object;
    body: NewProject;
    answer: ProjectAnswer;
  };
  /** One project. */
  "GET projects/{project_id}/": {
    path: { project_id: string | number };
    query: object;
    body: undefined;
    answer: ProjectAnswer;
  };
  /** Change a project. Its threads stay as they are; its switches count from their next message on. */
  "PATCH projects/{project_id}/": {
    path: { project_id: string | number };
    query: object;
    body: PatchedProjectChange;
    answer: ProjectAnswer;
  };
  /** Delete a project; `threads` says what becomes of what it holds. 200 in place of 204 tells what a legal hold
   * keeps. */
  "DELETE projects/{project_id}/": {
    path: { project_id: string | number };
    query: {
      threads?: "delete" | "keep";
    };
    body: undefined;
    answer: HeldAnswer | undefined;
  };
  /** All prompts that the caller may use: their own, at most 500, and those of the installation. */
  "GET prompts/": {
    path: object;
    query: object;
    body: undefined;
    answer: PromptsAnswer;
  };
  /** Keep a text to write messages with. Refused with 403 `prompt_not_yours` where it is for everybody, unless the
   * caller is staff and may add such. */
  "POST prompts/": {
    path: object;
    query: object;
    body: NewPrompt;
    answer: PromptAnswer;
  };
  /** One prompt. */
  "GET prompts/{prompt_id}/": {
    path: { prompt_id: string | number };
    query: object;
    body: undefined;
    answer: PromptAnswer;
  };
  /** Change one's own prompt, or, as staff who may, one for everybody. */
  "PATCH prompts/{prompt_id}/": {
    path: { prompt_id: string | number };
    query: object;
    body: PatchedPromptChange;
    answer: PromptAnswer;
  };
  /** Delete one's own prompt, or, as staff who may, one for everybody. */
  "DELETE prompts/{prompt_id}/": {
    path: { prompt_id: string | number };
    query: object;
    body: undefined;
    answer: undefined;
  };
  /** Go on where a reply was cut short. Follow the new reply's events: its text begins with all that there was. */
  "POST replies/{reply_id}/continue/": {
    path: { reply_id: string | number };
    query: object;
    body: undefined;
    answer: ReplyAnswer;
  };
  /** Let a model answer the same message again. Follow the new reply's events. */
  "POST replies/{reply_id}/retry/": {
    path: { reply_id: string | number };
    query: object;
    body: RetryRequest;
    answer: ReplyAnswer;
  };
  /** Stop a running reply; the text so far is kept. Follow its events to see the end. */
  "POST replies/{reply_id}/stop/": {
    path: { reply_id: string | number };
    query: object;
    body: undefined;
    answer: ReplyAnswer;
  };
  /** One model request: what it was given, what was left out and why. */
  "GET requests/{request_id}/": {
    path: { request_id: string | number };
    query: object;
    body: undefined;
    answer: SnapshotAnswer;
  };
  /** The caller's scheduled messages, newest first. */
  "GET schedules/": {
    path: object;
    query: {
      cursor?: string;
      page_size?: number;
    };
    body: undefined;
    answer: Page<ScheduleAnswer>;
  };
  /** Have a message sent at a time, or on days of the week at a time: its reply waits in the thread. Limits and
   * budgets count as for any message, also those of the token that made it. */
  "POST schedules/": {
    path: object;
    query: object;
    body: NewSchedule;
    answer: ScheduleAnswer;
  };
  /** One scheduled message. */
  "GET schedules/{schedule_id}/": {
    path: { schedule_id: string | number };
    query: object;
    body: undefined;
    answer: ScheduleAnswer;
  };
  /** Change, pause or resume it. One that was sent once is sent again where it gets another time. */
  "PATCH schedules/{schedule_id}/": {
    path: { schedule_id: string | number };
    query: object;
    body: PatchedScheduleChange;
    answer: ScheduleAnswer;
  };
  /** Delete it. What was sent stays in its thread. */
  "DELETE schedules/{schedule_id}/": {
    path: { schedule_id: string | number };
    query: object;
    body: undefined;
    answer: undefined;
  };
  /** Until when the caller is signed in. With the header `X-Openbook-Idle: 1` this and any other `GET` counts as
   * nobody's act, and moves nothing. */
  "GET session/": {
    path: object;
    query: object;
    body: undefined;
    answer: SessionAnswer;
  };
  /** The links of the caller that show anything, newest first, also those that have expired. None that were
   * revoked. */
  "GET shares/": {
    path: object;
    query: {
      cursor?: string;
      page_size?: number;
      thread?: string;
    };
    body: undefined;
    answer: Page<ShareAnswer>;
  };
  /** Revoke a link, for good. It opens nothing from now on. */
  "DELETE shares/{share_id}/": {
    path: { share_id: string | number };
    query: object;
    body: undefined;
    answer: undefined;
  };
  /** For staff: Assistants, offered or not, with all that shapes their requests. A change makes a version of it. A
   * token needs `staff:assistants`; its user the right to view them in the admin. */
  "GET staff/assistants/": {
    path: object;
    query: {
      cursor?: string;
      page_size?: number;
    };
    body: undefined;
    answer: Page<AssistantRow>;
  };
  /** Add an assistant: checked and recorded as on its page, for whoever may add one there. */
  "POST staff/assistants/": {
    path: object;
    query: object;
    body: NewAssistantRow;
    answer: SavedAssistantRow;
  };
  /** For staff: an assistant. */
  "GET staff/assistants/{row_id}/": {
    path: { row_id: string | number };
    query: object;
    body: undefined;
    answer: AssistantRow;
  };
  /** Change an assistant: checked and recorded as on its page. What is left out stays. A list of rows that belong
   * to it takes the place of all that it has. */
  "PATCH staff/assistants/{row_id}/": {
    path: { row_id: string | number };
    query: object;
    body: PatchedAssistantRowChange;
    answer: SavedAssistantRow;
  };
  /** Delete an assistant. 409 `row_in_use` where something needs it. */
  "DELETE staff/assistants/{row_id}/": {
    path: { row_id: string | number };
    query: object;
    body: undefined;
    answer: undefined;
  };
  /** For staff: Limits of groups, and of the whole server: tokens and USD a day and a month, together and for each
   * person. A token needs `staff:groups`; its user the right to view them in the admin. */
  "GET staff/budgets/": {
    path: object;
    query: {
      cursor?: string;
      page_size?: number;
    };
    body: undefined;
    answer: Page<BudgetRow>;
  };
  /** Add a budget: checked and recorded as on its page, for whoever may add one there. */
  "POST staff/budgets/": {
    path: object;
    query: object;
    body: NewBudgetRow;
    answer: SavedBudgetRow;
  };
  /** For staff: a budget. */
  "GET staff/budgets/{row_id}/": {
    path: { row_id: string | number };
    query: object;
    body: undefined;
    answer: BudgetRow;
  };
  /** Change a budget: checked and recorded as on its page. What is left out stays. */
  "PATCH staff/budgets/{row_id}/": {
    path: { row_id: string | number };
    query: object;
    body: PatchedBudgetRowChange;
    answer: SavedBudgetRow;
  };
  /** Delete a budget. 409 `row_in_use` where something needs it. */
  "DELETE staff/budgets/{row_id}/": {
    path: { row_id: string | number };
    query: object;
    body: undefined;
    answer: undefined;
  };
  /** For staff: Services that models are asked of. Keys and the values of headers are only written. A token needs
   * `staff:models`; its user the right to view them in the admin. */
  "GET staff/connections/": {
    path: object;
    query: {
      cursor?: string;
      page_size?: number;
    };
    body: undefined;
    answer: Page<ConnectionRow>;
  };
  /** Add a connection: checked and recorded as on its page, for whoever may add one there. */
  "POST staff/connections/": {
    path: object;
    query: object;
    body: NewConnectionRow;
    answer: SavedConnectionRow;
  };
  /** For staff: a connection. */
  "GET staff/connections/{row_id}/": {
    path: { row_id: string | number };
    query: object;
    body: undefined;
    answer: ConnectionRow;
  };
  /** Change a connection: checked and recorded as on its page. What is left out stays. */
  "PATCH staff/connections/{row_id}/": {
    path: { row_id: string | number };
    query: object;
    body: PatchedConnectionRowChange;
    answer: SavedConnectionRow;
  };
  /** Delete a connection. 409 `row_in_use` where something needs it. */
  "DELETE staff/connections/{row_id}/": {
    path: { row_id: string | number };
    query: object;
    body: undefined;
    answer: undefined;
  };
  /** What the service offers now: it is asked. */
  "GET staff/connections/{row_id}/models/": {
    path: { row_id: string | number };
    query: object;
    body: undefined;
    answer: OfferedModelsAnswer;
  };
  /** Make models that the service offers models here, with what is known of their sizes and prices. */
  "POST staff/connections/{row_id}/models/": {
    path: { row_id: string | number };
    query: object;
    body: AddedModels;
    answer: OfferedModelsAnswer;
  };
  /** Ask the service for a word, as on the page of the connection: what it costs is the caller's. */
  "POST staff/connections/{row_id}/test/": {
    path: { row_id: string | number };
    query: object;
    body: undefined;
    answer: TrialAnswer;
  };
  /** For staff who may see experiments and read content, as these tell whether a context holds a text; newest
   * first. A token needs `staff:content`. */
  "GET staff/experiments/": {
    path: object;
    query: {
      cursor?: string;
      page_size?: number;
    };
    body: undefined;
    answer: Page<ExperimentAnswer>;
  };
  /** Have the requests of a dataset scored as versions of an assistant would make them. Workers do it: read the
   * experiment to follow it. Where models are named, they answer each of them, for which the caller's limits and
   * budgets pay. */
  "POST staff/experiments/": {
    path: object;
    query: object;
    body: NewExperiment;
    answer: ExperimentAnswer;
  };
  /** One experiment: how far it is, and what came of its cases so far. */
  "GET staff/experiments/{run_id}/": {
    path: { run_id: string | number };
    query: object;
    body: undefined;
    answer: ExperimentResult;
  };
  /** End it: what was scored so far stays. Nothing happens to one that has ended. */
  "POST staff/experiments/{run_id}/cancel/": {
    path: { run_id: string | number };
    query: object;
    body: undefined;
    answer: ExperimentAnswer;
  };
  /** For staff: Groups: what their members may, what they may use, how they sign in, and who manages them. Who is
   * in them is said by SCIM or in the admin. A token needs `staff:groups`; its user the right to view them in the
   * admin. */
  "GET staff/groups/": {
    path: object;
    query: {
      cursor?: string;
      page_size?: number;
    };
    body: undefined;
    answer: Page<GroupRow>;
  };
  /** Add a group: checked and recorded as on its page, for whoever may add one there. */
  "POST staff/groups/": {
    path: object;
    query: object;
    body: NewGroupRow;
    answer: SavedGroupRow;
  };
  /** For staff: a group. */
  "GET staff/groups/{row_id}/": {
    path: { row_id: string | number };
    query: object;
    body: undefined;
    answer: GroupRow;
  };
  /** Change a group: checked and recorded as on its page. What is left out stays. A list of rows that belong to it
   * takes the place of all that it has. */
  "PATCH staff/groups/{row_id}/": {
    path: { row_id: string | number };
    query: object;
    body: PatchedGroupRowChange;
    answer: SavedGroupRow;
  };
  /** Delete a group. 409 `row_in_use` where something needs it. */
  "DELETE staff/groups/{row_id}/": {
    path: { row_id: string | number };
    query: object;
    body: undefined;
    answer: undefined;
  };
  /** For staff: Models of all services: what they can do and what they cost. A token needs `staff:models`; its user
   * the right to view them in the admin. */
  "GET staff/models/": {
    path: object;
    query: {
      cursor?: string;
      page_size?: number;
    };
    body: undefined;
    answer: Page<ModelRow>;
  };
  /** Add a model: checked and recorded as on its page, for whoever may add one there. */
  "POST staff/models/": {
    path: object;
    query: object;
    body: NewModelRow;
    answer: SavedModelRow;
  };
  /** For staff: a model. */
  "GET staff/models/{row_id}/": {
    path: { row_id: string | number };
    query: object;
    body: undefined;
    answer: ModelRow;
  };
  /** Change a model: checked and recorded as on its page. What is left out stays. A list of rows that belong to it
   * takes the place of all that it has. */
  "PATCH staff/models/{row_id}/": {
    path: { row_id: string | number };
    query: object;
    body: PatchedModelRowChange;
    answer: SavedModelRow;
  };
  /** Delete a model. 409 `row_in_use` where something needs it. */
  "DELETE staff/models/{row_id}/": {
    path: { row_id: string | number };
    query: object;
    body: undefined;
    answer: undefined;
  };
  /** For staff: Presets, offered or not, with what they tell the model. A token needs `staff:assistants`; its user
   * the right to view them in the admin. */
  "GET staff/presets/": {
    path: object;
    query: {
      cursor?: string;
      page_size?: number;
    };
    body: undefined;
    answer: Page<PresetRow>;
  };
  /** Add a preset: checked and recorded as on its page, for whoever may add one there. */
  "POST staff/presets/": {
    path: object;
    query: object;
    body: NewPresetRow;
    answer: SavedPresetRow;
  };
  /** For staff: a preset. */
  "GET staff/presets/{row_id}/": {
    path: { row_id: string | number };
    query: object;
    body: undefined;
    answer: PresetRow;
  };
  /** Change a preset: checked and recorded as on its page. What is left out stays. */
  "PATCH staff/presets/{row_id}/": {
    path: { row_id: string | number };
    query: object;
    body: PatchedPresetRowChange;
    answer: SavedPresetRow;
  };
  /** Delete a preset. 409 `row_in_use` where something needs it. */
  "DELETE staff/presets/{row_id}/": {
    path: { row_id: string | number };
    query: object;
    body: undefined;
    answer: undefined;
  };
  /** For staff who may see replays of requests, newest first. A token needs `staff:replays`. */
  "GET staff/replays/": {
    path: object;
    query: {
      cursor?: string;
      page_size?: number;
    };
    body: undefined;
    answer: Page<ReplayAnswer>;
  };
  /** Have past requests of an assistant made again as a version, or this release, would make them. Workers do it:
   * read the replay to follow it. No model is asked. */
  "POST staff/replays/": {
    path: object;
    query: object;
    body: NewReplay;
    answer: ReplayAnswer;
  };
  /** One replay: how far it is, and its figures so far. */
  "GET staff/replays/{run_id}/": {
    path: { run_id: string | number };
    query: object;
    body: undefined;
    answer: ReplayAnswer;
  };
  /** End it: what was made so far stays. Nothing happens to one that has ended. */
  "POST staff/replays/{run_id}/cancel/": {
    path: { run_id: string | number };
    query: object;
    body: undefined;
    answer: ReplayAnswer;
  };
  /** For staff: model requests of everybody, newest first, as figures. Takes the right to see model requests; a
   * token needs `staff`. */
  "GET staff/requests/": {
    path: object;
    query: {
      assistant?: string;
      cursor?: string;
      page_size?: number;
      since?: string;
      status?: "completed" | "failed" | "interrupted" | "pending" | "stopped";
      thread?: string;
      until?: string;
      user?: string;
    };
    body: undefined;
    answer: Page<StaffRequest>;
  };
  /** For staff who may read content: one model request with what it was given, for a reason. The look is on record
   * before it is answered, and the person is told of it. A token needs `staff:content`. Where reading takes a
   * second factor (`OPENBOOK_READING_NEEDS_FACTOR`), it takes a session that has just proved one. */
  "POST staff/requests/{request_id}/look/": {
    path: { request_id: string | number };
    query: object;
    body: Look;
    answer: SnapshotAnswer;
  };
  /** The tags of the caller's threads. */
  "GET tags/": {
    path: object;
    query: object;
    body: undefined;
    answer: TagsAnswer;
  };
  /** The threads of the caller, the one that was active last first. */
  "GET threads/": {
    path: object;
    query: {
      archived?: boolean;
      assistant?: string;
      cursor?: string;
      page_size?: number;
      pinned?: boolean;
      project?: string;
      q?: string;
      tag?: string;
      updated_since?: string;
    };
    body: undefined;
    answer: Page<ThreadAnswer>;
  };
  /** Open an empty thread. */
  "POST threads/": {
    path: object;
    query: object;
    body: NewThread;
    answer: ThreadAnswer;
  };
  /** Pin, archive, tag or move several threads: all of them, or none where one isn't there. */
  "PATCH threads/": {
    path: object;
    query: object;
    body: PatchedThreadsChange;
    answer: ThreadsAnswer;
  };
  /** One thread. */
  "GET threads/{thread_id}/": {
    path: { thread_id: string | number };
    query: object;
    body: undefined;
    answer: ThreadAnswer;
  };
  /** Rename, pin, archive or tag a thread, move it into a project, give it another assistant or model, say whether
   * it takes part in memory, or go to another branch. */
  "PATCH threads/{thread_id}/": {
    path: { thread_id: string | number };
    query: object;
    body: PatchedThreadChange;
    answer: ThreadAnswer;
  };
  /** Delete a thread with all that belongs to it, for good. 200 in place of 204 tells what a legal hold keeps of
   * it. */
  "DELETE threads/{thread_id}/": {
    path: { thread_id: string | number };
    query: object;
    body: undefined;
    answer: HeldAnswer | undefined;
  };
  /** The artifacts of a thread, the one that was changed last first. */
  "GET threads/{thread_id}/artifacts/": {
    path: { thread_id: string | number };
    query: {
      content?: boolean;
      cursor?: string;
      deleted?: boolean;
      kind?: "code" | "document" | "html" | "mermaid" | "svg" | "table";
      page_size?: number;
    };
    body: undefined;
    answer: Page<ArtifactAnswer>;
  };
  /** Add an artifact to a thread. An assistant turn not more than 5 seconds older counts as what made it. */
  "POST threads/{thread_id}/artifacts/": {
    path: { thread_id: string | number };
    query: object;
    body: NewArtifact;
    answer: ArtifactAnswer;
  };
  /** Forget all turns of a thread for good, with what rests on them. The thread and its artifacts stay. */
  "POST threads/{thread_id}/clear/": {
    path: { thread_id: string | number };
    query: object;
    body: undefined;
    answer: ClearingAnswer;
  };
  /** What clearing this thread would do. Changes nothing. */
  "GET threads/{thread_id}/clearing/": {
    path: { thread_id: string | number };
    query: object;
    body: undefined;
    answer: ClearingAnswer;
  };
  /** The context that a message would get. Calls no model and writes nothing. */
  "POST threads/{thread_id}/context/": {
    path: { thread_id: string | number };
    query: object;
    body: MessageRequest;
    answer: SnapshotAnswer;
  };
  /** A thread as a ZIP file: the conversation as Markdown and as a document that `POST import/` takes, its
   * artifacts. */
  "GET threads/{thread_id}/export/": {
    path: { thread_id: string | number };
    query: object;
    body: undefined;
    answer: Blob;
  };
  /** Copy the path up to and with a turn into a new thread: its turns, what they brought and made. What is
   * remembered of them stays with the thread that they come from. */
  "POST threads/{thread_id}/fork/": {
    path: { thread_id: string | number };
    query: object;
    body: ForkRequest;
    answer: ThreadAnswer;
  };
  /** The turns of a thread's active path, or of another one, oldest first. */
  "GET threads/{thread_id}/messages/": {
    path: { thread_id: string | number };
    query: {
      before?: string;
      cursor?: string;
      page_size?: number;
      path?: string;
    };
    body: undefined;
    answer: Page<MessageAnswer>;
  };
  /** Send a message and wait for the whole reply. */
  "POST threads/{thread_id}/messages/": {
    path: { thread_id: string | number };
    query: object;
    body: MessageRequest;
    answer: ExchangeAnswer;
  };
  /** What the thread's assistant can make of the conversation at once, and what it has made so far. */
  "GET threads/{thread_id}/presets/": {
    path: { thread_id: string | number };
    query: {
      cursor?: string;
      page_size?: number;
    };
    body: undefined;
    answer: Page<PresetAnswer>;
  };
  /** Make an artifact of the conversation and wait for it. Nothing of this enters the thread's history. */
  "POST threads/{thread_id}/presets/{slug}/": {
    path: { thread_id: string | number; slug: string | number };
    query: object;
    body: PresetRequest;
    answer: MadeAnswer;
  };
  /** The model requests of a thread, newest first. */
  "GET threads/{thread_id}/requests/": {
    path: { thread_id: string | number };
    query: {
      cursor?: string;
      page_size?: number;
      status?: "completed" | "failed" | "interrupted" | "pending" | "stopped";
    };
    body: undefined;
    answer: Page<SnapshotAnswer>;
  };
  /** Make a link that shows the thread up to a turn to whoever has it. Later turns and other paths never show, nor
   * what is forgotten from then on. Refused with 403 `sharing_off` where the server does not allow it. */
  "POST threads/{thread_id}/shares/": {
    path: { thread_id: string | number };
    query: object;
    body: ThreadShareRequest;
    answer: ShareAnswer;
  };
  /** The tokens of the caller that were not revoked, newest first. Never the tokens themselves. */
  "GET tokens/": {
    path: object;
    query: {
      cursor?: string;
      page_size?: number;
    };
    body: undefined;
    answer: Page<TokenDescription>;
  };
  /** Make a token. With a session, where the person has proved who they are within five minutes; with a token, for
   * no more, no longer and from nowhere else than itself. The token is in this answer and is never shown again. */
  "POST tokens/": {
    path: object;
    query: object;
    body: NewToken;
    answer: CreatedToken;
  };
  /** Revoke a token, for good. It stops working at once. */
  "DELETE tokens/{token_id}/": {
    path: { token_id: string | number };
    query: object;
    body: undefined;
    answer: undefined;
  };
  /** The token that this call is made with. Needs no scope. */
  "GET tokens/current/": {
    path: object;
    query: object;
    body: undefined;
    answer: TokenDescription;
  };
  /** What was begun in conversations and is still open, newest first. */
  "GET topics/": {
    path: object;
    query: {
      cursor?: string;
      page_size?: number;
      resolved?: boolean;
    };
    body: undefined;
    answer: Page<TopicAnswer>;
  };
  /** Call a topic resolved, or open again. */
  "PATCH topics/{topic_id}/": {
    path: { topic_id: string | number };
    query: object;
    body: PatchedTopicChange;
    answer: TopicAnswer;
  };
  /** Remove a topic. The turns that opened it stay. */
  "DELETE topics/{topic_id}/": {
    path: { topic_id: string | number };
    query: object;
    body: undefined;
    answer: undefined;
  };
  /** The caller's webhooks, newest first. */
  "GET webhooks/": {
    path: object;
    query: {
      cursor?: string;
      page_size?: number;
    };
    body: undefined;
    answer: Page<WebhookAnswer>;
  };
  /** Have a program told what happens, signed as Standard Webhooks says. The secret is shown in this answer alone.
   * Refused with 403 `webhook_for_all_refused` where it is to hear of everybody, unless the caller is staff and
   * may. */
  "POST webhooks/": {
    path: object;
    query: object;
    body: NewWebhook;
    answer: CreatedWebhook;
  };
  /** One webhook. */
  "GET webhooks/{webhook_id}/": {
    path: { webhook_id: string | number };
    query: object;
    body: undefined;
    answer: WebhookAnswer;
  };
  /** Change a webhook, or switch it on again. */
  "PATCH webhooks/{webhook_id}/": {
    path: { webhook_id: string | number };
    query: object;
    body: PatchedWebhookChange;
    answer: WebhookAnswer;
  };
  /** Delete a webhook, with what waits to be sent. */
  "DELETE webhooks/{webhook_id}/": {
    path: { webhook_id: string | number };
    query: object;
    body: undefined;
    answer: undefined;
  };
  /** What was sent to a webhook and what is to be, newest first, as long as the server keeps it: 30 days by
   * default. */
  "GET webhooks/{webhook_id}/deliveries/": {
    path: { webhook_id: string | number };
    query: {
      cursor?: string;
      page_size?: number;
    };
    body: undefined;
    answer: Page<DeliveryAnswer>;
  };
  /** Send it once more, with the `webhook-id` that it had. */
  "POST webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver/": {
    path: { webhook_id: string | number; delivery_id: string | number };
    query: object;
    body: undefined;
    answer: DeliveryAnswer;
  };
  /** Send a test: an event of the type `ping`. */
  "POST webhooks/{webhook_id}/ping/": {
    path: { webhook_id: string | number };
    query: object;
    body: undefined;
    answer: DeliveryAnswer;
  };
  /** A new secret. For a day messages bear two signatures, with the former secret as well. */
  "POST webhooks/{webhook_id}/secret/": {
    path: { webhook_id: string | number };
    query: object;
    body: undefined;
    answer: SecretAnswer;
  };
}
