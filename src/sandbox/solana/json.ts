/** Parses integers as `bigint` if a JSON number cannot hold them exactly, as lamports may need. */
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
