/** Whole numbers beyond what a JSON number holds exactly are `bigint`, in both directions: lamports can be. */
export function parseExactly(text: string): unknown {
  return (JSON.parse as (text: string, revive: Revive) => unknown)(text, (_key, value, { source = '' }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source)
      ? BigInt(source)
      : value,
  )
}

export function stringifyExactly(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'bigint' ? (JSON as unknown as RawNumberJson).rawJSON(part.toString()) : part,
  )
}

type Revive = (key: string, value: unknown, context: { source?: string }) => unknown

type RawNumberJson = { rawJSON(text: string): unknown }
