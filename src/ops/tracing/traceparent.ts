/** A place in a trace, by https://www.w3.org/TR/trace-context/. */
export type TracePlace = { traceId: string; spanId: string; isSampled: boolean }

// Of the version that is known nothing may follow; a later one may say more. Ids of zeros are none.
const form =
  /^(?:00(?=.{53}$)|(?!00|ff)[\da-f]{2})-(?!0+-)([\da-f]{32})-(?!0+-)([\da-f]{16})-([\da-f]{2})(?:-.*)?$/

/** Null for anything that is no valid `traceparent`, which the specification says to pass over. */
export function parseTraceparent(text: string | undefined): TracePlace | null {
  const [, traceId, spanId, flags] = form.exec(text ?? '') ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return null
  return { traceId, spanId, isSampled: /[13579bdf]$/.test(flags) }
}

export function writeTraceparent({ traceId, spanId, isSampled }: TracePlace): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`
}
