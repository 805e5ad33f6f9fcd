/**
 * Serialising the result reproduces every number digit for digit: a number is an object that holds its text.
 * @throws if the text is not JSON
 */
export function parseLossless(text: string): unknown {
  return parse(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined ? rawJSON(source) : value,
  )
}

/** As sent; null for anything but a number. */
export function digitsOf(value: unknown): string | null {
  return isRawJSON(value) ? value.rawJSON : null
}

/** TypeScript's library does not declare this yet. */
type LosslessJson = {
  parse: (
    text: string,
    revive: (key: string, value: unknown, context: { source?: string }) => unknown,
  ) => unknown
  rawJSON: (text: string) => unknown
  isRawJSON: (value: unknown) => value is { rawJSON: string }
}

const { parse, rawJSON, isRawJSON } = JSON as unknown as LosslessJson
