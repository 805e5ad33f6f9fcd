/** One wake-up: the job, and its subject (a network, a stream, or nothing). It carries no data. */
export type Wake = { name: string; key: string }

/** Finished jobs are removed at once. If `failed` or `completed` is not zero, another program adds jobs. */
export const queueStates = ['waiting', 'active', 'delayed', 'failed', 'completed'] as const
export type QueueState = (typeof queueStates)[number]

/** Events worth reporting. The queue recovers by itself. */
export type QueueEvent =
  | { kind: 'connection_failed'; error: unknown }
  /** `dropped`: it was the last attempt. Only a new wake-up runs the job again. */
  | { kind: 'job_failed'; wake: Wake; error: unknown; dropped: boolean }
  /** Postgres only: the schema is missing or has another version. It is recreated if the user may do so. */
  | { kind: 'schema_unusable'; error: unknown }
  /** The schema was missing or outdated and was recreated. Waiting wake-ups were lost with it. */
  | { kind: 'schema_made' }
  /** Jobs waited and the worker took none, so it was replaced. */
  | { kind: 'worker_replaced' }
  /** The Redis server does not report its `maxmemory-policy`; it must be `noeviction`. */
  | { kind: 'eviction_policy_unknown' }

export type QueueLimits = {
  /** Attempts before a wake-up is dropped, except for recurring jobs. */
  attempts: number
  /** Delay before the second attempt. Doubles up to the maximum. */
  retryDelayMs: number
  retryDelayMaxMs: number
  /** A worker silent for this long loses its job to another. */
  lockMs: number
  stalledCheckMs: number
  /** How long jobs may wait at an idle worker before it is replaced. */
  stuckMs: number
  /** The longest pause between two attempts to connect. */
  reconnectDelayMs: number
  answerTimeoutMs: number
  stopTimeoutMs: number
}

export type QueueSettings = {
  url: string
  /** Processes with the same name share the jobs. */
  name: string
  limits: QueueLimits
  /**
   * Jobs with few keys that are requested regularly. Their wake-ups are retried until they succeed. The pauses grow,
   * and further wake-ups of the key do not shorten them.
   */
  recurring?: ReadonlySet<string>
  report: (event: QueueEvent) => void
}

export type Runs = {
  run: (wake: Wake) => Promise<void>
  /** Number of active runs. */
  active: () => number
  /** Grows with every start and every end of a run. */
  progress: () => number
  /** Resolves once no run is active. */
  idle: () => Promise<void>
}

export type RunningWorker = {
  /** Lets active jobs finish within the limit, then cuts the connections. */
  stop: () => Promise<void>
}

/** Operations that a server must provide. */
export type Backend = {
  add: (wake: Wake) => Promise<void>
  counts: () => Promise<Record<QueueState, number>>
  /**
   * Returns a warning about a working server; null if there is none.
   * @throws Fault `remote_failed` if the server cannot be used
   */
  danger: () => Promise<string | null>
  /**
   * Called regularly while a worker runs. Recreates what the server lost, and promotes jobs delayed by a process whose
   * clock was ahead; otherwise they would wait until real time catches up.
   */
  keepUp: () => Promise<void>
  startWorker: (runs: Runs, concurrency: number) => RunningWorker
  close: () => Promise<void>
}
