import type { Refusal, TimestampSettings } from './scheme.ts'

type TimestampUnit = TimestampSettings['unit']
type Times = { receivedAt: Date; tolerance: number }

/** Why a signed timestamp is refused, or null. Whoever replays an old delivery would have to sign it anew. */
export function refuseTimestamp(
  text: string,
  unit: TimestampUnit,
  { receivedAt, tolerance }: Times,
): Refusal | null {
  const time = forms[unit].test(text) ? millisecondsOf[unit](text) : Number.NaN
  if (Number.isNaN(time)) return 'timestamp_malformed'
  const age = receivedAt.getTime() - time
  if (age > tolerance) return 'timestamp_too_old'
  return age < -tolerance ? 'timestamp_too_new' : null
}

/** One spelling each: what reads loosely reads `123abc` as 123. A date without its zone could be any of 26 hours. */
const forms: Record<TimestampUnit, RegExp> = {
  s: /^[1-9]\d{0,11}$/,
  ms: /^[1-9]\d{0,14}$/,
  iso: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/,
}

const millisecondsOf: Record<TimestampUnit, (text: string) => number> = {
  s: (text) => Number(text) * 1000,
  ms: Number,
  iso: Date.parse,
}
