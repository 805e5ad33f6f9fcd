/** One wake-up: which job, and for what (a network, a stream, or nothing). It carries no data. */
export type Wake = { name: string; key: string }

/** Finished jobs are removed at once: where the last two are not zero, something else adds jobs. */
export const queueStates = ['waiting', 'active', 'delayed', 'failed', 'completed'] as const
export type QueueState = (typeof queueStates)[number]

/** What someone should know of, although the queue goes on by itself. */
export type QueueEvent =
  | { kind: 'connection_failed'; error: unknown }
  /** `dropped`: it was the last attempt; only a new wake-up runs the job again. */
  | { kind: 'job_failed'; wake: Wake; error: unknown; dropped: boolean }
  /** Of a queue in Postgres: its schema is missing or of another version. It is made again if the user may do that. */
  | { kind: 'schema_unusable'; error: unknown }
  /** It was gone, or of an older version, and was made again. Waiting wake-ups were lost with it. */
  | { kind: 'schema_made' }
  /** Work waited and nothing took it, so that the worker was replaced. */
  | { kind: 'worker_replaced' }
  /** The Redis server does not tell its `maxmemory-policy`; it must be `noeviction`. */
  | { kind: 'eviction_policy_unknown' }

export type QueueLimits = {
  /** Of one wake-up, before it is dropped, unless its job is a recurring one. */
  attempts: number
  /** Before the second attempt; doubled before each further one, up to the longest. */
  retryDelayMs: number
  retryDelayMaxMs: number
  /** A worker that was silent for this long has lost its job to another. */
  lockMs: number
  stalledCheckMs: number
  /** How long work may wait at an idle worker before the worker is replaced. */
  stuckMs: number
  /** The longest pause between two tries to reach the server. */
  reconnectDelayMs: number
  answerTimeoutMs: number
  stopTimeoutMs: number
}

export type QueueSettings = {
  /** `redis://`, `rediss://`, `postgres://` or `postgresql://`. */
  url: string
  /** Processes that give the same name share the work. */
  name: string
  limits: QueueLimits
  /**
   * Jobs of few keys, of which somebody asks for a run again and again. Such a wake-up is tried until it succeeds, with
   * growing pauses that further wake-ups of its key do not cut short.
   */
  recurring?: ReadonlySet<string>
  report: (event: QueueEvent) => void
}

export type Runs = {
  run: (wake: Wake) => Promise<void>
  /** How many are running now. */
  active: () => number
  /** Grows with every run that begins and every one that ends. */
  progress: () => number
  /** Resolves once none is running. */
  idle: () => Promise<void>
}

export type RunningWorker = {
  /** Lets what is active finish within the limit, then cuts the connections. */
  stop: () => Promise<void>
}

/** What a server must do for the queue. */
export type Backend = {
  add: (wake: Wake) => Promise<void>
  counts: () => Promise<Record<QueueState, number>>
  /**
   * What should not stay as it is although it works; null if nothing.
   * @throws Fault `remote_failed` if it cannot work
   */
  danger: () => Promise<string | null>
  /**
   * Called at regular times while a worker runs. Makes again what the server lost, and takes back what a process whose
   * clock was ahead has put off, which would last until it is so late.
   */
  keepUp: () => Promise<void>
  startWorker: (runs: Runs, concurrency: number) => RunningWorker
  close: () => Promise<void>
}
