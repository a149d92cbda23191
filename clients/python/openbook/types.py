"""The shapes of the API. Made from the schema by `make clients`; not written by hand."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict


class AcceptedVersion(TypedDict):
    version: int


class AccessAnswer(TypedDict):
    id: str
    at: str
    staff: str
    action: ActionEnum
    what: str
    thread: str | None
    object: str
    reason: str


type ActionEnum = Literal["read", "export", "watch", "signin"]

type ActorKindEnum = Literal["person", "staff", "token", "system", "unknown"]


class AddedModels(TypedDict):
    models: list[str]


class ArgumentAnswer(TypedDict):
    name: str
    description: str
    required: bool


class ArtifactAnswer(TypedDict):
    id: str
    thread: str
    title: str
    kind: ArtifactKind
    language: str
    content: NotRequired[str]
    version: int
    size: int
    created_at: str
    updated_at: str
    deleted_at: str | None
    message: str | None
    reply: str | None
    preset: str
    after_position: int
    origin: ArtifactOrigin


type ArtifactKind = Literal["document", "code", "html", "svg", "mermaid", "table"]

type ArtifactOrigin = Literal["reply", "preset", "hand", "program"]


class ArtifactShareRequest(TypedDict):
    days: NotRequired[int]
    expires_at: NotRequired[str]
    shows: NotRequired[ShowsFields]
    version: NotRequired[int | None]


class AssistantAnswer(TypedDict):
    slug: str
    name: str
    description: str


class AssistantRow(TypedDict):
    id: int
    slug: str
    name: str
    description: str
    system_prompt: str
    provider: str
    model: str
    max_output_tokens: int
    thinking_tokens: int
    effort: Effort | BlankEnum
    show_thinking: ShowThinkingEnum
    reply_minutes: int
    fallback_model: str
    fallback_automatic: bool
    budget_share: int | None
    history_tokens_high: int
    history_tokens_low: int
    history_turns_min: int
    history_turns_max: int
    total_tokens: int
    hard_cap_tokens: int
    memory_tokens: int
    today_tokens: int
    open_threads_tokens: int
    last_conversation_tokens: int
    recall_tokens: int
    file_tokens: int
    uses_memory: bool
    tools: list[str]
    filters_artifacts: bool
    rewriting: RewritingEnum
    rewriting_model: str
    cache_lifetime: CacheLifetime | BlankEnum
    is_default: bool
    is_active: bool
    order: int
    offered_models: list[str]
    fallbacks: list[FallbackRow]
    version: int | None


class AssistantVersionAnswer(TypedDict):
    number: int
    state: AssistantVersionAnswerStateEnum
    note: str
    author: str | None
    created_at: str
    published_at: str | None
    content: dict[str, Any]


type AssistantVersionAnswerStateEnum = Literal["draft", "current", "earlier"]


class AuditAnswer(TypedDict):
    id: str
    at: str
    kind: str
    outcome: AuditAnswerOutcomeEnum
    actor_kind: ActorKindEnum
    actor: int | None
    actor_name: str
    target_kind: str
    target: str
    address: str
    request_id: str
    details: dict[str, Any]
    number: int | None
    digest: str | None


type AuditAnswerOutcomeEnum = Literal["success", "failure", "denied"]


class BannerObject(TypedDict):
    id: int
    version: int
    text: str
    level: LevelEnum
    is_dismissable: bool
    ends_at: str | None


class BannersAnswer(TypedDict):
    results: list[BannerObject]


type BlankEnum = Literal[""]


class Book(TypedDict):
    format: FormatEnum
    threads: NotRequired[list[ImportedThread]]
    memories: NotRequired[list[ImportedMemory]]
    topics: NotRequired[list[ImportedTopic]]
    preferences: NotRequired[ImportedPreferences]
    instructions: NotRequired[ImportedInstructions]
    prompts: NotRequired[list[ImportedPrompt]]
    projects: NotRequired[list[ImportedProject]]


class BudgetFigures(TypedDict):
    tokens_day: int
    money_day: float
    tokens_month: int
    money_month: float


class BudgetLimits(TypedDict):
    tokens_day: int | None
    money_day: float | None
    tokens_month: int | None
    money_month: float | None
    used: BudgetFigures


class BudgetOriginAnswer(TypedDict):
    share: int | None
    context_window: int
    wanted: int
    is_cut: bool
    text: str


class BudgetRow(TypedDict):
    id: int
    group: str | None
    tokens_day: int | None
    tokens_month: int | None
    money_day: str | None
    money_month: str | None
    member_tokens_day: int | None
    member_tokens_month: int | None
    member_money_day: str | None
    member_money_month: str | None


class CacheAnswer(TypedDict):
    state: CacheAnswerStateEnum
    marks: list[MarksEnum]
    expected: int
    lifetime: LifetimeEnum
    cost_five_minutes: float | None
    cost_hour: float | None


type CacheAnswerStateEnum = Literal[
    "none", "first", "cold", "other_model", "other_system", "moved", "changed", "too_small", "warm"
]

type CacheLifetime = Literal["5m", "1h"]


class CallAnswer(TypedDict):
    answer: CallAnswerAnswerEnum


type CallAnswerAnswerEnum = Literal["once", "thread", "always", "no"]


class Citation(TypedDict):
    text: str
    file: str
    name: str
    part: int | None
    given: bool


class ClearingAnswer(TypedDict):
    thread: str
    messages: int
    quotes: int
    memories: int
    topics: int
    titles: int
    summaries: int
    snapshots: int
    kept_artifacts: int
    held: str


type ColourEnum = Literal["grey", "red", "orange", "yellow", "green", "teal", "blue", "purple", "pink"]

type ConnectionKind = Literal["anthropic", "openai", "bedrock"]


class ConnectionRow(TypedDict):
    id: int
    slug: str
    label: str
    kind: ConnectionKind
    base_url: str
    server: str
    region: str
    connect_seconds: float
    proxy: str
    is_active: bool
    order: int
    has_key: bool
    header_names: list[str]
    problem: str
    tested_at: str | None
    is_working: bool | None
    test_result: str


class CreatedInvitation(TypedDict):
    id: str
    groups: list[str]
    email: str
    most_uses: int
    uses: int
    used_by: list[InvitationUseAnswer]
    made_by: str
    works: bool
    created_at: str
    expires_at: str
    revoked_at: str | None
    url: str


class CreatedToken(TypedDict):
    id: int
    name: str
    scopes: list[ScopesEnum]
    addresses: list[str]
    created_at: str
    expires_at: str
    last_used_at: str | None
    last_used_from: str
    requests_minute: int | None
    running_replies: int | None
    tokens_day: int | None
    token: str


class CreatedWebhook(TypedDict):
    id: str
    name: str
    url: str
    events: list[EventsEnum]
    for_all: bool
    is_active: bool
    disabled_because: DisabledBecauseEnum | BlankEnum
    failures: int
    failing_since: str | None
    former_until: str | None
    created_at: str
    updated_at: str
    secret: str


class DayAnswer(TypedDict):
    day: str
    text: str
    key_moments: list[str]
    threads: list[TitledThread]
    updated_at: str


type DaysEnum = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]


class DeliveryAnswer(TypedDict):
    id: str
    type: TypeEnum
    data: dict[str, Any]
    state: DeliveryAnswerStateEnum
    attempts: int
    status_code: int | None
    answer: str
    problem: str
    milliseconds: int | None
    created_at: str
    attempted_at: str | None
    delivered_at: str | None
    due_at: str | None


type DeliveryAnswerStateEnum = Literal["waiting", "delivered", "failed"]

type DisabledBecauseEnum = Literal["failing", "gone", "right_lost"]

type DisplayEnum = Literal["summarized", "omitted"]


class DuplicatesAnswer(TypedDict):
    rules: bool
    tool_wording: bool
    filtered_turns: int
    silent: bool


type Effort = Literal["low", "medium", "high", "xhigh", "max"]


class EmbedTokenAnswer(TypedDict):
    token: str
    expires_at: str


class EmbedTokenRequest(TypedDict):
    assertion: str


class ErrorAnswer(TypedDict):
    error: ErrorObject


class ErrorObject(TypedDict):
    type: str
    code: str
    message: str
    details: dict[str, Any]
    request_id: str
    wording: NotRequired[WordingObject]


type EventsEnum = Literal[
    "reply.finished",
    "reply.failed",
    "artifact.created",
    "file.read",
    "feedback.given",
    "limit.reached",
    "memory.changed",
    "content.accessed",
]


class Everything(TypedDict):
    all: bool


class ExchangeAnswer(TypedDict):
    thread: str
    user_message: MessageAnswer
    reply: ReplyAnswer
    assistant_message: MessageAnswer | None
    request: str | None


class ExperimentAnswer(TypedDict):
    id: str
    state: RunState
    author: str | None
    problem: str
    created_at: str
    ended_at: str | None
    done: int
    dataset: str
    versions: list[int]
    models: list[str]
    judge: str
    most_cost: float | None
    cases: int


class ExperimentResult(TypedDict):
    id: str
    state: RunState
    author: str | None
    problem: str
    created_at: str
    ended_at: str | None
    done: int
    dataset: str
    versions: list[int]
    models: list[str]
    judge: str
    most_cost: float | None
    cases: int
    result: dict[str, Any]


class FallbackRow(TypedDict):
    provider: str
    model: NotRequired[str]
    order: NotRequired[int]


class FateAnswer(TypedDict):
    kind: FateAnswerKindEnum
    source: str
    included: bool
    reason: ReasonEnum
    count: int
    file: str | None
    parts: str
    what: str
    why: str


type FateAnswerKindEnum = Literal[
    "message",
    "server_tool",
    "instructions",
    "project_instructions",
    "thread_instructions",
    "memory",
    "summary",
    "topic",
    "artifact",
    "message_elsewhere",
    "file",
    "part",
    "picture",
    "content",
]


class FeedbackAnswer(TypedDict):
    value: ValueEnum
    reason: FeedbackReason | BlankEnum
    text: str
    show_conversation: bool
    created_at: str
    updated_at: str


type FeedbackReason = Literal["wrong", "forgot", "made_up", "too_long", "unsafe", "other"]


class FeedbackRequest(TypedDict):
    value: ValueEnum
    reason: NotRequired[FeedbackReason | BlankEnum]
    text: NotRequired[str]
    show_conversation: NotRequired[bool]


class FeedbackRow(TypedDict):
    id: str
    value: ValueEnum
    reason: FeedbackReason | BlankEnum
    text: str | None
    show_conversation: bool
    created_at: str
    updated_at: str
    state: FeedbackState
    assignee: str | None
    notes: str
    assistant: str
    provider: str
    model: str
    user: int
    thread: str
    message: str
    request: str | None


type FeedbackState = Literal["new", "in_work", "done", "wont_do"]


class FileAnswer(TypedDict):
    id: str
    name: str
    kind: str
    media_type: str
    bytes: int
    picture_bytes: int
    status: FileAnswerStatusEnum
    error: ErrorObject | None
    left_out: list[UnreadAnswer]
    title: str
    pages: int | None
    pages_read: int
    parts: int
    tokens: int
    thread: str | None
    project: str | None
    created_at: str


type FileAnswerStatusEnum = Literal["reading", "ready", "failed"]


class FileCitedAnswer(TypedDict):
    text: str
    part: int | None
    given: bool
    warning: str | None


class FileGivenAnswer(TypedDict):
    position: int
    parts: str
    whole: bool
    outlined: bool
    tokens: int


class FileInReplyAnswer(TypedDict):
    reply: str
    request: str
    position: int
    created_at: str
    question: str
    given: str
    words: str
    left_out: list[FileLeftOutAnswer]


class FileInRequestAnswer(TypedDict):
    id: str
    name: str | None
    parts: int
    given: list[FileGivenAnswer]
    read: list[FileReadAnswer]
    left_out: list[FileLeftOutAnswer]
    unread: list[UnreadAnswer]
    without_pictures: str
    cited: list[FileCitedAnswer]


class FileLeftOutAnswer(TypedDict):
    parts: str
    reason: ReasonEnum


class FileMatchAnswer(TypedDict):
    file: str
    name: str
    part: int | None
    label: str | None
    page: int | None
    message: str | None
    position: int | None
    created_at: str
    excerpt: str
    words: list[str]


class FileReadAnswer(TypedDict):
    parts: str
    tokens: int


class FindingAnswer(TypedDict):
    id: str
    finding: str
    assistant: str
    subject: str
    state: FindingState
    reason: str
    count: int
    tokens_month: int
    cost_month: float | None
    example: str | None
    setting: str
    first_seen_at: str
    seen_at: str


type FindingState = Literal["open", "accepted", "mended"]


class ForgettingAnswer(TypedDict):
    memories: list[str]
    turns: list[ForgottenTurnAnswer]
    artifacts: int
    topics: int
    titles: int
    projects: int
    instructions: int
    prompts: int
    schedules: int
    feedback: int
    summaries: int
    snapshots: int
    held: str


class ForgottenTurnAnswer(TypedDict):
    message: str
    thread: str
    position: int
    role: RoleEnum
    text: str
    why: ForgottenTurnAnswerWhyEnum


type ForgottenTurnAnswerWhyEnum = Literal["source", "mention"]


class ForkRequest(TypedDict):
    message: str


class ForkedFrom(TypedDict):
    thread: str
    message: str | None


type FormatEnum = Literal["openbook/1"]


class FoundAnswer(TypedDict):
    content: str
    score: float
    source: FoundSource
    passage: FoundPassage | None
    created_at: str
    replaced_by: str | None


class FoundListAnswer(TypedDict):
    results: list[FoundAnswer]


class FoundPassage(TypedDict):
    start: int
    end: int


class FoundSource(TypedDict):
    kind: FoundSourceKindEnum
    id: str
    thread: str | None
    position: int | None
    role: str | None
    project: NamedProject | None


type FoundSourceKindEnum = Literal["message", "memory"]


class GivenAnswer(TypedDict):
    replies: list[FileInReplyAnswer]


class GivenFile(TypedDict):
    file: str
    parts: NotRequired[str]
    outlined: NotRequired[bool]


class GroupAccessRow(TypedDict):
    assistants: NotRequired[list[str]]
    models: NotRequired[list[str]]
    connections: NotRequired[list[str]]
    tools: NotRequired[list[str]]
    sharing: NotRequired[bool]
    uploads: NotRequired[bool]
    temporary_chats: NotRequired[bool]
    export: NotRequired[bool]


class GroupLimits(TypedDict):
    tokens_day: int | None
    money_day: float | None
    tokens_month: int | None
    money_month: float | None
    used: BudgetFigures
    name: str
    own: BudgetLimits


class GroupManagerRow(TypedDict):
    user: str


class GroupRow(TypedDict):
    id: int
    name: str
    permissions: list[str]
    access: GroupAccessRow | None
    sign_in: GroupSignInRow | None
    managers: list[GroupManagerRow]


class GroupSignInRow(TypedDict):
    requires_second_factor: NotRequired[bool]
    session_hours: NotRequired[int | None]
    session_idle_minutes: NotRequired[int | None]


class HandOverAnswer(TypedDict):
    to: int
    shares: list[str]


class HandOverRequest(TypedDict):
    to: str
    shares: NotRequired[list[str]]


class HeldAnswer(TypedDict):
    held: str


class ImportAnswer(TypedDict):
    threads: list[ImportedThreadAnswer]
    memories: int
    branches: NotRequired[int]
    longer: NotRequired[list[LongerThreadAnswer]]
    known: NotRequired[dict[str, Any]]
    not_taken: NotRequired[list[NotTakenAnswer]]
    not_taken_count: NotRequired[int]
    left_out: NotRequired[int]
    files: NotRequired[int]
    files_left_out: NotRequired[int]
    files_refused: NotRequired[list[RefusedFileAnswer]]


class ImportedArtifact(TypedDict):
    id: NotRequired[str]
    title: str
    kind: NotRequired[ArtifactKind]
    language: NotRequired[str]
    preset: NotRequired[str]
    after_position: NotRequired[int]
    after: NotRequired[str]
    content: NotRequired[str]
    versions: NotRequired[list[ImportedVersion]]
    created_at: NotRequired[str]
    origin: NotRequired[ArtifactOrigin]
    message: NotRequired[Any]


class ImportedBranchMessage(TypedDict):
    id: NotRequired[str]
    role: RoleEnum
    content: Any
    created_at: NotRequired[str]
    status: NotRequired[ImportedStatus]
    model: NotRequired[str]
    offline: NotRequired[bool]
    files: NotRequired[list[GivenFile]]
    feedback: NotRequired[ImportedFeedback]
    parent: NotRequired[str | None]
    after_position: NotRequired[int]


class ImportedFeedback(TypedDict):
    value: ValueEnum
    reason: NotRequired[FeedbackReason | BlankEnum]
    text: NotRequired[str]
    created_at: NotRequired[str]
    updated_at: NotRequired[str]


class ImportedFile(TypedDict):
    id: NotRequired[str]
    name: NotRequired[str]
    kind: NotRequired[str]
    media_type: NotRequired[str]
    bytes: NotRequired[int]
    sha256: NotRequired[str]
    created_at: NotRequired[str]
    path: NotRequired[str | None]


class ImportedInstructions(TypedDict):
    about: NotRequired[str]
    style: NotRequired[str]


class ImportedMemory(TypedDict):
    id: NotRequired[str]
    content: str
    tags: NotRequired[list[str]]
    source: NotRequired[str | None]
    sources: NotRequired[list[str]]
    origin: NotRequired[MemoryOrigin]
    created_at: NotRequired[str]
    said_at: NotRequired[str]
    valid_from: NotRequired[str | None]
    valid_until: NotRequired[str | None]
    ended_at: NotRequired[str | None]
    settled_at: NotRequired[str | None]


class ImportedMessage(TypedDict):
    id: NotRequired[str]
    role: RoleEnum
    content: Any
    created_at: NotRequired[str]
    status: NotRequired[ImportedStatus]
    model: NotRequired[str]
    offline: NotRequired[bool]
    files: NotRequired[list[GivenFile]]
    feedback: NotRequired[ImportedFeedback]


class ImportedPreferences(TypedDict):
    time_zone: NotRequired[str]
    remembers: NotRequired[bool]
    language: NotRequired[str]


class ImportedProject(TypedDict):
    id: NotRequired[str]
    name: str
    colour: NotRequired[ColourEnum]
    instructions: NotRequired[str]
    assistant: NotRequired[str | None]
    model: NotRequired[str]
    presets: NotRequired[list[str]]
    uses_outside_memory: NotRequired[bool]
    shares_memory: NotRequired[bool]
    created_at: NotRequired[str]
    files: NotRequired[list[ImportedFile]]


class ImportedPrompt(TypedDict):
    id: NotRequired[str]
    name: str
    text: str
    created_at: NotRequired[str]


class ImportedSource(TypedDict):
    thread: str
    message: NotRequired[str | None]


type ImportedStatus = Literal["complete", "incomplete", "refused", "stopped", "interrupted", "failed"]


class ImportedSummary(TypedDict):
    id: NotRequired[str]
    first: int
    last: int
    text: str
    key_moments: NotRequired[list[str]]
    sources: NotRequired[list[str]]
    started_at: NotRequired[str]
    ended_at: NotRequired[str]
    made_by: NotRequired[str]
    made_at: NotRequired[str]
    stale_since: NotRequired[str | None]


class ImportedThread(TypedDict):
    id: NotRequired[str]
    title: NotRequired[str]
    title_through: NotRequired[int]
    forked_from: NotRequired[ImportedSource]
    pinned: NotRequired[bool]
    archived: NotRequired[bool]
    tags: NotRequired[list[str]]
    assistant: NotRequired[str]
    created_at: NotRequired[str]
    messages: NotRequired[list[ImportedMessage]]
    branches: NotRequired[list[ImportedBranchMessage]]
    artifacts: NotRequired[list[ImportedArtifact]]
    remembers: NotRequired[bool]
    model: NotRequired[str]
    summaries: NotRequired[list[ImportedSummary]]
    files: NotRequired[list[ImportedFile]]
    project: NotRequired[str | None]
    instructions: NotRequired[str]
    uses_account_instructions: NotRequired[bool]


class ImportedThreadAnswer(TypedDict):
    id: str
    message_count: int


class ImportedTopic(TypedDict):
    id: NotRequired[str]
    title: str
    thread: NotRequired[str | None]
    sources: NotRequired[list[str]]
    opened_at: NotRequired[str]
    resolved_at: NotRequired[str | None]


class ImportedVersion(TypedDict):
    content: str
    created_at: NotRequired[str]
    origin: NotRequired[ArtifactOrigin]
    message: NotRequired[Any]


class InstructionsAnswer(TypedDict):
    about: str
    style: str


class InvitationAnswer(TypedDict):
    id: str
    groups: list[str]
    email: str
    most_uses: int
    uses: int
    used_by: list[InvitationUseAnswer]
    made_by: str
    works: bool
    created_at: str
    expires_at: str
    revoked_at: str | None


class InvitationUseAnswer(TypedDict):
    user: int
    username: str
    at: str


class ItemAnswer(TypedDict):
    kind: ItemAnswerKindEnum
    included: bool
    reason: ReasonEnum
    id: NotRequired[str | None]
    tokens: NotRequired[int]
    exact: NotRequired[bool]
    position: NotRequired[int]
    thread: NotRequired[str]
    score: NotRequired[float]
    passages: NotRequired[list[PassageAnswer]]
    replaced_by: NotRequired[str]
    first: NotRequired[int]
    last: NotRequired[int]
    count: NotRequired[int]


type ItemAnswerKindEnum = Literal[
    "message",
    "range",
    "server_tool",
    "instructions",
    "project_instructions",
    "thread_instructions",
    "memory",
    "summary",
    "topic",
    "artifact",
]

type LastStatusEnum = Literal["running", "completed", "stopped", "interrupted", "failed"]


class LeaverAnswer(TypedDict):
    id: int
    username: str
    links: int


class LeaverShareAnswer(TypedDict):
    id: str
    kind: SharedKind
    title: str
    shows: ShowsFields
    views: int
    created_at: str
    expires_at: str


type LevelEnum = Literal["information", "warning"]

type LifetimeEnum = Literal["5m", "1h"]


class LimitsAnswer(TypedDict):
    requests_minute: int | None
    running_replies: int | None
    tokens_day: int | None
    running_now: int
    tokens_used: int
    tokens_reserved: int
    tokens_noted: int
    files_bytes: int | None
    files_used: int
    groups: list[GroupLimits]
    token: UseAnswer | None


class LongerThreadAnswer(TypedDict):
    id: str
    message_count: int
    added: int


class Look(TypedDict):
    reason: str


class MadeAnswer(TypedDict):
    thread: str
    reply: ReplyAnswer
    artifact: ArtifactAnswer | None
    request: str | None


type MarksEnum = Literal["system", "message"]


class MatchAnswer(TypedDict):
    message: str
    position: int
    role: RoleEnum
    created_at: str
    excerpt: str
    words: list[str]


class McpCallAnswer(TypedDict):
    id: str
    thread: str
    reply: str
    call_id: str
    tool: str
    state: McpCallAnswerStateEnum
    answer: McpCallAnswerAnswerEnum | BlankEnum
    created_at: str
    ended_at: str | None


type McpCallAnswerAnswerEnum = Literal["once", "thread", "always", "no"]

type McpCallAnswerStateEnum = Literal["asked", "allowed", "refused", "started", "done", "failed", "unknown"]


class MemoryAnswer(TypedDict):
    id: str
    content: str
    tags: list[str]
    project: NamedProject | None
    origin: MemoryOrigin
    source: SourceAnswer | None
    sources: list[SourceAnswer]
    created_at: str
    said_at: str
    valid_from: str | None
    valid_until: str | None
    ended_at: str | None
    superseded_by: str | None
    supersedes: list[str]


type MemoryOrigin = Literal["conversation", "hand", "program"]


class MemoryScopeAnswer(TypedDict):
    project: NamedProject | None
    outside: bool
    shared: list[NamedProject]
    closed: int
    text: str


class MessageAnswer(TypedDict):
    id: str
    position: int
    role: RoleEnum
    content: list[dict[str, Any]]
    text: str
    citations: list[Citation]
    sources: list[WebSourceAnswer]
    status: str
    created_at: str
    token_count: int
    model: str | None
    client_message_id: str | None
    parent: str | None
    versions: list[str]
    version: int
    version_count: int
    reply: ReplyAnswer | None
    feedback: NotRequired[FeedbackAnswer]


class MessageRequest(TypedDict):
    content: NotRequired[Any]
    files: NotRequired[Any]
    client_message_id: NotRequired[Any]
    assistant: NotRequired[str | None]
    model: NotRequired[str]
    thread_model: NotRequired[str]
    project: NotRequired[str | None]
    edits: NotRequired[Any]
    temporary: NotRequired[bool]


type ModeEnum = Literal["adaptive", "enabled", "disabled", "between_tools"]


class ModelAnswer(TypedDict):
    id: str
    name: str
    provider: str
    context_window: int
    max_output: int
    images: bool
    tools: bool
    thinking: bool
    memory: bool
    assistants: list[str]
    cut_for: list[str]
    default_of: list[str]


class ModelPriceRow(TypedDict):
    since: NotRequired[str | None]
    above: NotRequired[int]
    input: str
    output: str
    cache_write: str
    cache_write_hour: str
    cache_read: str


class ModelRow(TypedDict):
    id: int
    provider: str
    name: str
    label: str
    context_window: int
    max_output: int
    thinking: ThinkingEnum
    thinks_unasked: bool
    thinking_off: ThinkingOffEnum | BlankEnum
    efforts: list[Effort]
    default_effort: Effort | BlankEnum
    takes_tools: bool
    takes_images: bool
    cacheable_from: int | None
    token_factor: float
    small_model: str
    uses_memory: bool
    system_prompt: str
    is_active: bool
    order: int
    prices: list[ModelPriceRow]


class ModelsAnswer(TypedDict):
    results: list[ModelAnswer]


class ModerationAnswer(TypedDict):
    moderator: str
    stage: StageEnum
    result: ResultEnum
    labels: list[str]
    at: str


class NamedProject(TypedDict):
    id: str
    name: str


class NewArtifact(TypedDict):
    title: str
    kind: NotRequired[ArtifactKind]
    language: NotRequired[str]
    content: str


class NewAssistantRow(TypedDict):
    slug: str
    name: str
    description: NotRequired[str]
    system_prompt: str
    provider: NotRequired[str]
    model: NotRequired[str]
    max_output_tokens: NotRequired[int]
    thinking_tokens: NotRequired[int]
    effort: NotRequired[Effort | BlankEnum]
    show_thinking: NotRequired[ShowThinkingEnum]
    reply_minutes: NotRequired[int]
    fallback_model: NotRequired[str]
    fallback_automatic: NotRequired[bool]
    budget_share: NotRequired[int | None]
    history_tokens_high: NotRequired[int]
    history_tokens_low: NotRequired[int]
    history_turns_min: NotRequired[int]
    history_turns_max: NotRequired[int]
    total_tokens: NotRequired[int]
    hard_cap_tokens: NotRequired[int]
    memory_tokens: NotRequired[int]
    today_tokens: NotRequired[int]
    open_threads_tokens: NotRequired[int]
    last_conversation_tokens: NotRequired[int]
    recall_tokens: NotRequired[int]
    file_tokens: NotRequired[int]
    uses_memory: NotRequired[bool]
    tools: NotRequired[list[str]]
    filters_artifacts: NotRequired[bool]
    rewriting: NotRequired[RewritingEnum]
    rewriting_model: NotRequired[str]
    cache_lifetime: NotRequired[CacheLifetime | BlankEnum]
    is_default: NotRequired[bool]
    is_active: NotRequired[bool]
    order: NotRequired[int]
    offered_models: NotRequired[list[str]]
    fallbacks: NotRequired[list[FallbackRow]]


class NewAssistantVersion(TypedDict):
    content: dict[str, Any]
    note: NotRequired[str]


class NewBudgetRow(TypedDict):
    group: NotRequired[str | None]
    tokens_day: NotRequired[int | None]
    tokens_month: NotRequired[int | None]
    money_day: NotRequired[str | None]
    money_month: NotRequired[str | None]
    member_tokens_day: NotRequired[int | None]
    member_tokens_month: NotRequired[int | None]
    member_money_day: NotRequired[str | None]
    member_money_month: NotRequired[str | None]


class NewConnectionRow(TypedDict):
    slug: str
    label: str
    kind: NotRequired[ConnectionKind]
    base_url: NotRequired[str]
    server: NotRequired[str]
    region: NotRequired[str]
    connect_seconds: NotRequired[float]
    proxy: NotRequired[str]
    is_active: NotRequired[bool]
    order: NotRequired[int]
    key: NotRequired[str | None]
    headers: NotRequired[dict[str, Any] | None]


class NewExperiment(TypedDict):
    dataset: str
    versions: list[int]
    models: NotRequired[list[str]]
    judge: NotRequired[str]
    limit: NotRequired[int | None]
    most_cost: NotRequired[float | None]


class NewGroupRow(TypedDict):
    name: str
    permissions: NotRequired[list[str]]
    access: NotRequired[GroupAccessRow | None]
    sign_in: NotRequired[GroupSignInRow | None]
    managers: NotRequired[list[GroupManagerRow]]


class NewInvitation(TypedDict):
    groups: NotRequired[list[int]]
    email: NotRequired[str]
    uses: NotRequired[int]
    days: NotRequired[int]


class NewMemory(TypedDict):
    content: str
    tags: NotRequired[list[str]]
    valid_until: NotRequired[str | None]


class NewModelRow(TypedDict):
    provider: str
    name: str
    label: str
    context_window: int
    max_output: int
    thinking: NotRequired[ThinkingEnum]
    thinks_unasked: NotRequired[bool]
    thinking_off: NotRequired[ThinkingOffEnum | BlankEnum]
    efforts: NotRequired[list[Effort]]
    default_effort: NotRequired[Effort | BlankEnum]
    takes_tools: NotRequired[bool]
    takes_images: NotRequired[bool]
    cacheable_from: NotRequired[int | None]
    token_factor: NotRequired[float]
    small_model: NotRequired[str]
    uses_memory: NotRequired[bool]
    system_prompt: NotRequired[str]
    is_active: NotRequired[bool]
    order: NotRequired[int]
    prices: NotRequired[list[ModelPriceRow]]


class NewPresetRow(TypedDict):
    slug: str
    name: str
    description: NotRequired[str]
    prompt: str
    kind: NotRequired[ArtifactKind]
    language: NotRequired[str]
    is_active: NotRequired[bool]
    order: NotRequired[int]
    assistants: NotRequired[list[str]]


class NewProject(TypedDict):
    colour: NotRequired[ColourEnum]
    instructions: NotRequired[str]
    assistant: NotRequired[str | None]
    model: NotRequired[str]
    presets: NotRequired[list[str]]
    uses_outside_memory: NotRequired[bool]
    shares_memory: NotRequired[bool]
    name: str


class NewPrompt(TypedDict):
    name: str
    text: str
    shared: NotRequired[bool]


class NewReplay(TypedDict):
    assistant: str
    version: NotRequired[int | None]
    rule: NotRequired[str]
    days: NotRequired[int]
    sample: NotRequired[int | None]
    conditions: NotRequired[list[str]]


class NewSchedule(TypedDict):
    content: str
    thread: NotRequired[str]
    assistant: NotRequired[str]
    at: NotRequired[str]
    rule: NotRequired[Rule]
    time_zone: NotRequired[str]


class NewServer(TypedDict):
    name: str
    url: str
    header: NotRequired[str]
    secret: NotRequired[str]
    for_all: NotRequired[bool]


class NewThread(TypedDict):
    title: NotRequired[str]
    assistant: NotRequired[str]
    model: NotRequired[str]
    project: NotRequired[str | None]
    instructions: NotRequired[str]
    uses_account_instructions: NotRequired[bool]
    temporary: NotRequired[bool]


class NewToken(TypedDict):
    days: NotRequired[int]
    expires_at: NotRequired[str]
    addresses: NotRequired[list[str]]
    requests_minute: NotRequired[int]
    running_replies: NotRequired[int]
    tokens_day: NotRequired[int]
    name: str
    scopes: NotRequired[list[ScopesEnum]]


class NewWebhook(TypedDict):
    name: str
    url: str
    events: list[EventsEnum]
    for_all: NotRequired[bool]


class NotTakenAnswer(TypedDict):
    place: str
    what: str
    count: int


class NoticeAnswer(TypedDict):
    notice: NoticeObject | None
    accepted_at: str | None


class NoticeObject(TypedDict):
    version: int
    title: str
    text: str
    published_at: str


class OfferedModelAnswer(TypedDict):
    id: str
    label: str
    context_window: int
    max_output: int
    added: bool


class OfferedModelsAnswer(TypedDict):
    results: list[OfferedModelAnswer]


class PartAnswer(TypedDict):
    number: int
    label: str
    heading: str
    page: int | None
    tokens: int
    picture: bool
    width: int | None
    height: int | None


class PartTextAnswer(TypedDict):
    number: int
    label: str
    heading: str
    page: int | None
    tokens: int
    picture: bool
    width: int | None
    height: int | None
    text: str


class PassageAnswer(TypedDict):
    start: int
    end: int
    included: bool
    reason: ReasonEnum
    tokens: int


class PatchedArtifactChange(TypedDict):
    title: NotRequired[str]
    kind: NotRequired[ArtifactKind]
    language: NotRequired[str]
    content: NotRequired[str]
    version: NotRequired[int]


class PatchedAssistantRowChange(TypedDict):
    slug: NotRequired[str]
    name: NotRequired[str]
    description: NotRequired[str]
    system_prompt: NotRequired[str]
    provider: NotRequired[str]
    model: NotRequired[str]
    max_output_tokens: NotRequired[int]
    thinking_tokens: NotRequired[int]
    effort: NotRequired[Effort | BlankEnum]
    show_thinking: NotRequired[ShowThinkingEnum]
    reply_minutes: NotRequired[int]
    fallback_model: NotRequired[str]
    fallback_automatic: NotRequired[bool]
    budget_share: NotRequired[int | None]
    history_tokens_high: NotRequired[int]
    history_tokens_low: NotRequired[int]
    history_turns_min: NotRequired[int]
    history_turns_max: NotRequired[int]
    total_tokens: NotRequired[int]
    hard_cap_tokens: NotRequired[int]
    memory_tokens: NotRequired[int]
    today_tokens: NotRequired[int]
    open_threads_tokens: NotRequired[int]
    last_conversation_tokens: NotRequired[int]
    recall_tokens: NotRequired[int]
    file_tokens: NotRequired[int]
    uses_memory: NotRequired[bool]
    tools: NotRequired[list[str]]
    filters_artifacts: NotRequired[bool]
    rewriting: NotRequired[RewritingEnum]
    rewriting_model: NotRequired[str]
    cache_lifetime: NotRequired[CacheLifetime | BlankEnum]
    is_default: NotRequired[bool]
    is_active: NotRequired[bool]
    order: NotRequired[int]
    offered_models: NotRequired[list[str]]
    fallbacks: NotRequired[list[FallbackRow]]


class PatchedBudgetRowChange(TypedDict):
    tokens_day: NotRequired[int | None]
    tokens_month: NotRequired[int | None]
    money_day: NotRequired[str | None]
    money_month: NotRequired[str | None]
    member_tokens_day: NotRequired[int | None]
    member_tokens_month: NotRequired[int | None]
    member_money_day: NotRequired[str | None]
    member_money_month: NotRequired[str | None]


class PatchedConnectionRowChange(TypedDict):
    label: NotRequired[str]
    base_url: NotRequired[str]
    server: NotRequired[str]
    region: NotRequired[str]
    connect_seconds: NotRequired[float]
    proxy: NotRequired[str]
    is_active: NotRequired[bool]
    order: NotRequired[int]
    key: NotRequired[str | None]
    headers: NotRequired[dict[str, Any] | None]


class PatchedFeedbackChange(TypedDict):
    state: NotRequired[FeedbackState]
    assignee: NotRequired[str | None]
    notes: NotRequired[str]


class PatchedFileChange(TypedDict):
    project: NotRequired[str]


class PatchedFindingChange(TypedDict):
    reason: NotRequired[str]


class PatchedGroupRowChange(TypedDict):
    name: NotRequired[str]
    permissions: NotRequired[list[str]]
    access: NotRequired[GroupAccessRow | None]
    sign_in: NotRequired[GroupSignInRow | None]
    managers: NotRequired[list[GroupManagerRow]]


class PatchedInstructionsChange(TypedDict):
    about: NotRequired[str]
    style: NotRequired[str]


class PatchedMemoryChange(TypedDict):
    content: NotRequired[str]
    tags: NotRequired[list[str]]
    valid_until: NotRequired[str | None]


class PatchedModelRowChange(TypedDict):
    provider: NotRequired[str]
    name: NotRequired[str]
    label: NotRequired[str]
    context_window: NotRequired[int]
    max_output: NotRequired[int]
    thinking: NotRequired[ThinkingEnum]
    thinks_unasked: NotRequired[bool]
    thinking_off: NotRequired[ThinkingOffEnum | BlankEnum]
    efforts: NotRequired[list[Effort]]
    default_effort: NotRequired[Effort | BlankEnum]
    takes_tools: NotRequired[bool]
    takes_images: NotRequired[bool]
    cacheable_from: NotRequired[int | None]
    token_factor: NotRequired[float]
    small_model: NotRequired[str]
    uses_memory: NotRequired[bool]
    system_prompt: NotRequired[str]
    is_active: NotRequired[bool]
    order: NotRequired[int]
    prices: NotRequired[list[ModelPriceRow]]


class PatchedPreferencesChange(TypedDict):
    remembers: NotRequired[bool]
    time_zone: NotRequired[str]
    language: NotRequired[str]


class PatchedPresetRowChange(TypedDict):
    slug: NotRequired[str]
    name: NotRequired[str]
    description: NotRequired[str]
    prompt: NotRequired[str]
    kind: NotRequired[ArtifactKind]
    language: NotRequired[str]
    is_active: NotRequired[bool]
    order: NotRequired[int]
    assistants: NotRequired[list[str]]


class PatchedProjectChange(TypedDict):
    colour: NotRequired[ColourEnum]
    instructions: NotRequired[str]
    assistant: NotRequired[str | None]
    model: NotRequired[str]
    presets: NotRequired[list[str]]
    uses_outside_memory: NotRequired[bool]
    shares_memory: NotRequired[bool]
    name: NotRequired[str]


class PatchedPromptChange(TypedDict):
    name: NotRequired[str]
    text: NotRequired[str]


class PatchedScheduleChange(TypedDict):
    content: NotRequired[str]
    at: NotRequired[str]
    rule: NotRequired[Rule]
    time_zone: NotRequired[str]
    paused: NotRequired[bool]


class PatchedServerChange(TypedDict):
    url: NotRequired[str]
    header: NotRequired[str]
    secret: NotRequired[str]
    is_active: NotRequired[bool]
    allowed: NotRequired[dict[str, Any]]


class PatchedThreadChange(TypedDict):
    title: NotRequired[str]
    assistant: NotRequired[str]
    model: NotRequired[str]
    project: NotRequired[str | None]
    instructions: NotRequired[str]
    uses_account_instructions: NotRequired[bool]
    pinned: NotRequired[bool]
    archived: NotRequired[bool]
    tags: NotRequired[list[str]]
    active: NotRequired[str]
    remembers: NotRequired[bool]


class PatchedThreadsChange(TypedDict):
    ids: NotRequired[list[str]]
    pinned: NotRequired[bool]
    archived: NotRequired[bool]
    project: NotRequired[str | None]
    add_tags: NotRequired[list[str]]
    remove_tags: NotRequired[list[str]]


class PatchedTopicChange(TypedDict):
    resolved: NotRequired[bool]


class PatchedWebhookChange(TypedDict):
    name: NotRequired[str]
    url: NotRequired[str]
    events: NotRequired[list[EventsEnum]]
    is_active: NotRequired[bool]


class PreferencesAnswer(TypedDict):
    remembers: bool
    time_zone: str
    language: str


class PresetAnswer(TypedDict):
    slug: str
    name: str
    description: str
    kind: ArtifactKind
    artifact: str | None


class PresetRequest(TypedDict):
    client_message_id: NotRequired[Any]


class PresetRow(TypedDict):
    id: int
    slug: str
    name: str
    description: str
    prompt: str
    kind: ArtifactKind
    language: str
    is_active: bool
    order: int
    assistants: list[str]


class ProblemAnswer(TypedDict):
    source: str
    kind: ProblemAnswerKindEnum
    message: str


type ProblemAnswerKindEnum = Literal["error", "timed_out", "garbage", "too_large"]


class ProjectAnswer(TypedDict):
    id: str
    name: str
    colour: ColourEnum
    instructions: str
    assistant: str | None
    model: str
    presets: list[str]
    uses_outside_memory: bool
    shares_memory: bool
    thread_count: NotRequired[int]
    file_count: NotRequired[int]
    created_at: str
    updated_at: str


class PromptAnswer(TypedDict):
    id: str
    name: str
    text: str
    variables: list[str]
    shared: bool
    created_at: str
    updated_at: str


class PromptsAnswer(TypedDict):
    results: list[PromptAnswer]


type PurposeEnum = Literal["reply", "rewrite", "artifact", "consolidation", "title", "experiment", "judge"]


class QuotedTurnAnswer(TypedDict):
    line: int
    thread: str
    position: int


type ReasonEnum = Literal[
    "newest",
    "recent",
    "shortened",
    "over_budget",
    "turn_limit",
    "superseded",
    "other_branch",
    "fulfilled_artifact",
    "orphan_tool",
    "refused",
    "failed",
    "offline",
    "limit",
    "repeated",
    "instructed",
    "remembered",
    "recalled",
    "unrelated",
    "read",
    "unseen",
    "unread",
    "hidden",
    "damaged",
    "not_read",
    "broken_off",
    "offered",
    "changed",
    "listed",
    "outside_part",
    "expired",
    "other_project",
    "temporary",
]


class RefusalAnswer(TypedDict):
    category: str | None
    message: str


class RefusedFileAnswer(TypedDict):
    name: str
    place: str
    code: str
    message: str


class ReplayAnswer(TypedDict):
    id: str
    state: RunState
    author: str | None
    problem: str
    created_at: str
    ended_at: str | None
    done: int
    assistant: str
    version: int | None
    rule: str
    since: str
    sample: int | None
    conditions: list[str]
    requests: int
    failed: list[str]
    report: dict[str, Any]


class ReplyAnswer(TypedDict):
    id: str
    status: str
    error: ErrorObject | None
    stop_reason: str
    refusal: RefusalAnswer | None
    ways: list[WaysEnum]
    fallback_model: str | None
    model: str | None
    provider: str | None
    fallback_for: str | None
    fallback_cause: str | None
    fallback_text: str | None
    continues: str | None
    ended_at: str | None
    request: str | None
    message_history_count: int | None
    total_tokens: int | None


type RequestStatus = Literal["pending", "completed", "failed", "stopped", "interrupted"]


class ResourceAnswer(TypedDict):
    uri: str
    name: str
    description: str
    media_type: str
    size: int | None


class ResourceChoice(TypedDict):
    uri: str
    name: NotRequired[str]


class ResourcesAnswer(TypedDict):
    results: list[ResourceAnswer]


type ResultEnum = Literal["allowed", "marked", "refused", "failed"]


class RetryRequest(TypedDict):
    model: NotRequired[str]


class RewritingAnswer(TypedDict):
    outcome: RewritingAnswerOutcomeEnum
    query: str | None


type RewritingAnswerOutcomeEnum = Literal[
    "rewritten", "not_needed", "off", "not_asked", "failed", "timed_out", "empty", "unchanged", "by_rules"
]

type RewritingEnum = Literal["off", "local", "model"]

type RoleEnum = Literal["user", "assistant"]


class Rule(TypedDict):
    days: list[DaysEnum]
    time: str


type RunState = Literal["running", "done", "cancelled", "failed"]


class SavedAssistantRow(TypedDict):
    id: int
    slug: str
    name: str
    description: str
    system_prompt: str
    provider: str
    model: str
    max_output_tokens: int
    thinking_tokens: int
    effort: Effort | BlankEnum
    show_thinking: ShowThinkingEnum
    reply_minutes: int
    fallback_model: str
    fallback_automatic: bool
    budget_share: int | None
    history_tokens_high: int
    history_tokens_low: int
    history_turns_min: int
    history_turns_max: int
    total_tokens: int
    hard_cap_tokens: int
    memory_tokens: int
    today_tokens: int
    open_threads_tokens: int
    last_conversation_tokens: int
    recall_tokens: int
    file_tokens: int
    uses_memory: bool
    tools: list[str]
    filters_artifacts: bool
    rewriting: RewritingEnum
    rewriting_model: str
    cache_lifetime: CacheLifetime | BlankEnum
    is_default: bool
    is_active: bool
    order: int
    offered_models: list[str]
    fallbacks: list[FallbackRow]
    version: int | None
    warnings: list[str]


class SavedBudgetRow(TypedDict):
    id: int
    group: str | None
    tokens_day: int | None
    tokens_month: int | None
    money_day: str | None
    money_month: str | None
    member_tokens_day: int | None
    member_tokens_month: int | None
    member_money_day: str | None
    member_money_month: str | None
    warnings: list[str]


class SavedConnectionRow(TypedDict):
    id: int
    slug: str
    label: str
    kind: ConnectionKind
    base_url: str
    server: str
    region: str
    connect_seconds: float
    proxy: str
    is_active: bool
    order: int
    has_key: bool
    header_names: list[str]
    problem: str
    tested_at: str | None
    is_working: bool | None
    test_result: str
    warnings: list[str]


class SavedGroupRow(TypedDict):
    id: int
    name: str
    permissions: list[str]
    access: GroupAccessRow | None
    sign_in: GroupSignInRow | None
    managers: list[GroupManagerRow]
    warnings: list[str]


class SavedModelRow(TypedDict):
    id: int
    provider: str
    name: str
    label: str
    context_window: int
    max_output: int
    thinking: ThinkingEnum
    thinks_unasked: bool
    thinking_off: ThinkingOffEnum | BlankEnum
    efforts: list[Effort]
    default_effort: Effort | BlankEnum
    takes_tools: bool
    takes_images: bool
    cacheable_from: int | None
    token_factor: float
    small_model: str
    uses_memory: bool
    system_prompt: str
    is_active: bool
    order: int
    prices: list[ModelPriceRow]
    warnings: list[str]


class SavedPresetRow(TypedDict):
    id: int
    slug: str
    name: str
    description: str
    prompt: str
    kind: ArtifactKind
    language: str
    is_active: bool
    order: int
    assistants: list[str]
    warnings: list[str]


class ScheduleAnswer(TypedDict):
    id: str
    thread: str | None
    assistant: str
    content: str
    at: str | None
    rule: Rule | None
    time_zone: str
    next_at: str | None
    paused: bool
    last_due_at: str | None
    last_sent_at: str | None
    late: bool
    last_reply: str | None
    last_status: LastStatusEnum | BlankEnum
    last_error: str
    created_at: str
    updated_at: str


type ScopesEnum = Literal[
    "read",
    "write",
    "export",
    "memory",
    "files",
    "webhooks",
    "servers",
    "chat",
    "staff",
    "staff:content",
    "staff:audit",
    "staff:assistants",
    "staff:models",
    "staff:groups",
    "staff:replays",
    "staff:feedback",
    "staff:invitations",
    "scim",
]


class SecretAnswer(TypedDict):
    secret: str


class SectionAnswer(TypedDict):
    name: str
    tokens: int
    text: str | None
    forgotten_at: str | None
    quotes: NotRequired[list[QuotedTurnAnswer]]
    sources: NotRequired[list[WebSourceAnswer]]


class ServerAnswer(TypedDict):
    id: str
    name: str
    url: str
    for_all: bool
    header: str
    has_secret: bool
    signs_in: bool
    signed_in: bool
    is_active: bool
    fetched_at: str | None
    problem: str
    tools: list[ServerToolAnswer]
    created_at: str
    updated_at: str


class ServerPromptAnswer(TypedDict):
    name: str
    description: str
    arguments: list[ArgumentAnswer]


class ServerPromptArguments(TypedDict):
    arguments: dict[str, Any]


class ServerPromptTextAnswer(TypedDict):
    text: str


class ServerPromptsAnswer(TypedDict):
    results: list[ServerPromptAnswer]


class ServerToolAnswer(TypedDict):
    id: str
    name: str
    description: str
    schema: dict[str, Any]
    read_only: bool
    digest: str
    state: ServerToolAnswerStateEnum


type ServerToolAnswerStateEnum = Literal["new", "allowed", "changed"]


class SessionAnswer(TypedDict):
    signed_in_at: str | None
    ends_at: str
    idle_minutes: int | None


class ShareAnswer(TypedDict):
    id: str
    url: str | None
    kind: SharedKind
    thread: str
    message: str | None
    artifact: str | None
    version: int | None
    shows: ShowsFields
    views: int
    created_at: str
    expires_at: str


type SharedKind = Literal["thread", "artifact"]

type ShowThinkingEnum = Literal["off", "summary"]


class ShowsFields(TypedDict):
    book: NotRequired[bool]
    files: NotRequired[bool]
    names: NotRequired[bool]
    title: NotRequired[bool]


class SignInBegun(TypedDict):
    url: str
    issuer: str


class SnapshotAnswer(TypedDict):
    id: str | None
    thread: str | None
    message: str | None
    reply: str | None
    purpose: PurposeEnum
    round: int
    created_at: str
    provider: str
    model: str
    fallback_for: str | None
    fallback_cause: str | None
    fallback_text: str | None
    switch: SwitchAnswer | None
    max_tokens: int
    thinking: ThinkingAnswer
    digest: str
    message_history_count: int
    message_history_tokens: int
    today_summary_present: bool
    open_threads_count: int
    last_conversation_present: bool
    total_tokens: int
    token_factor: float
    budget: int
    hard_cap: int
    budget_origin: BudgetOriginAnswer | None
    version: int | None
    rules: int | None
    sections: list[SectionAnswer]
    items: list[ItemAnswer]
    window_begins: str | None
    fates: list[FateAnswer]
    files: list[FileInRequestAnswer]
    rewriting: RewritingAnswer
    memory: MemoryScopeAnswer | None
    against_duplicates: DuplicatesAnswer
    moderation: list[ModerationAnswer]
    problems: list[ProblemAnswer]
    cache: CacheAnswer | None
    diagnostics: dict[str, Any] | None
    request: dict[str, Any] | None
    forgotten_at: str | None
    timings_ms: TimingsAnswer
    thinking_ms: int | None
    first_token_ms: int | None
    usage: UsageAnswer
    stop_reason: str
    stop_details: dict[str, Any] | None
    status: RequestStatus
    error: dict[str, Any] | None


class SourceAnswer(TypedDict):
    message: str
    thread: str
    position: int
    created_at: str


class StaffRequest(TypedDict):
    id: str
    created_at: str
    ended_at: str | None
    user: int
    thread: str
    assistant: str
    version: int | None
    purpose: PurposeEnum
    provider: str
    model: str
    status: RequestStatus
    stop_reason: str
    budget: int
    total_tokens: int
    usage: dict[str, Any] | None
    first_token_ms: int | None


type StageEnum = Literal["message", "files", "reply"]


class SwitchAnswer(TypedDict):
    request: str
    provider: str
    model: str
    text: str
    effects: list[str]


class TagAnswer(TypedDict):
    tag: str
    threads: int


class TagsAnswer(TypedDict):
    results: list[TagAnswer]


class ThinkingAnswer(TypedDict):
    mode: ModeEnum | BlankEnum
    display: DisplayEnum | BlankEnum
    effort: ThinkingAnswerEffortEnum | BlankEnum
    room: int


type ThinkingAnswerEffortEnum = Literal["low", "medium", "high", "xhigh", "max"]

type ThinkingEnum = Literal["none", "budget", "adaptive"]

type ThinkingOffEnum = Literal["disabled", "between_tools"]


class ThreadAnswer(TypedDict):
    id: str
    title: str
    assistant: str
    model: str
    model_note: str | None
    created_at: str
    updated_at: str
    message_count: int
    running_reply: str | None
    remembers: bool
    temporary: bool
    project: str | None
    instructions: str
    uses_account_instructions: bool
    pinned: bool
    archived: bool
    tags: list[str]
    cost: NotRequired[str | None]
    forked_from: ForkedFrom | None
    forks: list[str]
    match: NotRequired[MatchAnswer | None]
    file_match: NotRequired[FileMatchAnswer | None]


class ThreadShareRequest(TypedDict):
    days: NotRequired[int]
    expires_at: NotRequired[str]
    shows: NotRequired[ShowsFields]
    message: NotRequired[str]


class ThreadsAnswer(TypedDict):
    results: list[ThreadAnswer]


class TimingsAnswer(TypedDict):
    limits: float
    history: float
    fixed: float
    memory: float
    warmth: float
    exclusion: float
    window: float
    rewrite: float
    beside: float
    files: float
    file_texts: float
    rounds: float
    tokens: float
    cache: float
    render: float
    record: float
    total: float


class TitledThread(TypedDict):
    id: str
    title: str


class TokenAnswer(TypedDict):
    token: str


class TokenDescription(TypedDict):
    id: int
    name: str
    scopes: list[ScopesEnum]
    addresses: list[str]
    created_at: str
    expires_at: str
    last_used_at: str | None
    last_used_from: str
    requests_minute: int | None
    running_replies: int | None
    tokens_day: int | None


class TokenRequest(TypedDict):
    days: NotRequired[int]
    expires_at: NotRequired[str]
    addresses: NotRequired[list[str]]
    requests_minute: NotRequired[int]
    running_replies: NotRequired[int]
    tokens_day: NotRequired[int]
    username: str
    password: str
    code: NotRequired[str]
    name: NotRequired[str]
    scopes: NotRequired[list[ScopesEnum]]


class TopicAnswer(TypedDict):
    id: str
    title: str
    thread: TitledThread | None
    source: SourceAnswer | None
    opened_at: str
    resolved_at: str | None


class TrialAnswer(TypedDict):
    is_working: bool
    words: str


type TypeEnum = Literal[
    "ping",
    "reply.finished",
    "reply.failed",
    "artifact.created",
    "file.read",
    "feedback.given",
    "limit.reached",
    "memory.changed",
    "content.accessed",
]


class UnreadAnswer(TypedDict):
    what: str
    why: UnreadAnswerWhyEnum
    count: int
    places: list[str]
    text: str


type UnreadAnswerWhyEnum = Literal["hidden", "damaged", "not_read", "broken_off"]


class UsageAnswer(TypedDict):
    input_tokens: int | None
    output_tokens: int | None
    cache_read_input_tokens: int | None
    cache_creation_input_tokens: int | None
    cache_creation_1h_input_tokens: int | None
    thinking_tokens: int | None
    estimated_input_tokens: int | None
    estimated_output_tokens: int | None


class UseAnswer(TypedDict):
    requests_minute: int | None
    running_replies: int | None
    tokens_day: int | None
    running_now: int
    tokens_used: int
    tokens_reserved: int


class UsesAnswer(TypedDict):
    requests: int
    replies: int
    tokens: int
    last: str | None


type ValueEnum = Literal[1, -1]


class VersionAnswer(TypedDict):
    title: str
    kind: ArtifactKind
    content: NotRequired[str]
    version: int
    size: int
    origin: ArtifactOrigin
    created_at: str
    message: str | None
    reply: str | None


type WaysEnum = Literal["retry", "continue", "rephrase", "fallback"]


class WebSourceAnswer(TypedDict):
    title: str
    url: str
    host: str
    read: bool


class WebhookAnswer(TypedDict):
    id: str
    name: str
    url: str
    events: list[EventsEnum]
    for_all: bool
    is_active: bool
    disabled_because: DisabledBecauseEnum | BlankEnum
    failures: int
    failing_since: str | None
    former_until: str | None
    created_at: str
    updated_at: str


class WordingObject(TypedDict):
    sentences: list[str]
    values: dict[str, Any]
