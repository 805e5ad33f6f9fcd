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
  /** Work waited and nothing took it, so that the worker was replaced. */
  | { kind: 'worker_replaced' }
  /** The Redis server does not tell its `maxmemory-policy`; it must be `noeviction`. */
  | { kind: 'eviction_policy_unknown' }

export type QueueLimits = {
  /** Of one wake-up, before it is dropped. */
  attempts: number
  /** Before the second attempt; doubled before each further one. */
  retryDelayMs: number
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
  /** What may make it lose wake-ups, as it is set now; null where nothing is known to. */
  danger: () => Promise<string | null>
  /** Takes back what a process whose clock was ahead has put off by it, which would last until it is so late. */
  catchUp: () => Promise<void>
  startWorker: (runs: Runs, concurrency: number) => RunningWorker
  close: () => Promise<void>
}
