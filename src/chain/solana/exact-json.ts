/** JSON whose whole numbers are `bigint`, because lamports exceed what a number of JavaScript holds. */
export const exactJson = {
  encode: (value: unknown): string => JSON.stringify(value, exactNumbers),
  decode(text: string): unknown {
    if (longNumber.test(text)) return (JSON.parse as ParseWithSource)(text, exactInteger)
    return withIntegers(JSON.parse(text))
  },
}

/**
 * What may be a number of so many digits that it would be rounded; inside of a text it does no harm. Without one, which
 * is nearly always so, a block is read several times as fast.
 */
const longNumber = /(?:^|[:[,])\s*-?\d{16}/

type ParseWithSource = (text: string, revive: typeof exactInteger) => unknown

function exactInteger(_key: string, value: unknown, { source = '' }: { source?: string }): unknown {
  return typeof value === 'number' && /^-?\d+$/.test(source) ? BigInt(source) : value
}

/** Changes lists and objects as they are, for they are large and nobody else has them yet. */
function withIntegers(value: unknown): unknown {
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : value
  if (typeof value !== 'object' || value === null) return value
  const parts = value as Record<string, unknown>
  for (const key of Object.keys(parts)) {
    const part = parts[key]
    if (typeof part === 'number' || (typeof part === 'object' && part !== null))
      parts[key] = withIntegers(part)
  }
  return value
}

function exactNumbers(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? (JSON as unknown as RawJsonFactory).rawJSON(value.toString()) : value
}

type RawJsonFactory = { rawJSON(text: string): unknown }
