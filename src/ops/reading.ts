/** Counts and ages as the database and the queue tell them, by part. Ages are in seconds. */
export type GaugeValues = {
  live: Live
  totals: MetricTotals
  scorecard: readonly Scores[]
  /** Jobs by state. */
  queue: Readonly<Record<string, number>>
}

/** What is open or waits. */
export type Live = {
  inbox: { pending: number; oldest: number }
  /** Deliveries kept. */
  quarantine: number
  /** `unnamed` is that of the oldest about which no mismatch is open; null if there is none. */
  stages: readonly { stage: string; network: string; oldest: number; unnamed: number | null }[]
  mismatches: readonly {
    kind: string
    severity: string
    network: string
    age: string
    count: number
    oldest: number
  }[]
  atRisk: readonly { asset: string; severity: string; units: number }[]
  /** Open mismatches by what they have in common. */
  causes: readonly OpenCause[]
  sealAge: number
  untied: readonly { control: string; asset: string; units: number }[]
  unexplained: readonly { network: string; asset: string; units: number }[]
  streams: readonly { name: string; age: number; progress: Readonly<Record<string, number>> }[]
}

/** A cause of open mismatches, as it stood when it was read. */
export type OpenCause = {
  kind: string
  service: string
  network: string
  side: string
  severity: string
  since: Date
  /** How many mismatches. */
  count: number
  callsForPeople: boolean
}

/** What was read of what is open or waits, so many seconds later. What was 0 is of nothing that waits, and stays 0. */
export function agedBy(seconds: number, live: Live): Live {
  const later = (age: number) => (age === 0 ? 0 : age + seconds)
  const withOldest = <Row extends { oldest: number }>(row: Row): Row => ({
    ...row,
    oldest: later(row.oldest),
  })
  return {
    ...live,
    inbox: withOldest(live.inbox),
    stages: live.stages.map(({ unnamed, ...stage }) => ({
      ...withOldest(stage),
      unnamed: unnamed === null ? null : later(unnamed),
    })),
    mismatches: live.mismatches.map(withOldest),
    sealAge: later(live.sealAge),
    streams: live.streams.map((stream) => ({ ...stream, age: stream.age + seconds })),
  }
}

/** What is counted or added up over all that is stored. */
export type MetricTotals = {
  deposits: readonly { state: string; network: string; count: number }[]
  matrix: readonly { leg: string; source: string; cell: string; count: number }[]
  assets: readonly { asset: string; network: string; symbol: string }[]
  balances: readonly { account: string; network: string; asset: string; units: number }[]
  imbalances: readonly { asset: string; units: number }[]
  coverageGaps: readonly { network: string; stretches: number }[]
}

/** How the service did on one route; null is what cannot be told of it. */
export type Scores = {
  route: string
  completeness: string | null
  duplicates: bigint
  delivery_p50_seconds: number | null
  delivery_p95_seconds: number | null
  delivery_p99_seconds: number | null
  settle_p50_seconds: number | null
  settle_p95_seconds: number | null
  settle_p99_seconds: number | null
  fee_share: string | null
}
