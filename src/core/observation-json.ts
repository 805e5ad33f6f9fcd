import type { Observation } from './evidence.ts'

/** Writes an observation as JSON: amounts and heights as decimal text, times as ISO text. */
export function encodeObservation(observation: Observation): string {
  return JSON.stringify(observation, (_key, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  )
}

/** Reads the output of `encodeObservation`. It is our own text, so it is trusted and not checked again. */
export function decodeObservation(text: string): Observation {
  return JSON.parse(text, (key, value: unknown) => {
    if (typeof value !== 'string') return value
    if (integerKeys.has(key)) return BigInt(value)
    return key.endsWith('At') ? new Date(value) : value
  }) as Observation
}

const integerKeys: ReadonlySet<string> = new Set(['amount', 'sent', 'fee', 'height'])
