/**
 * Parses JSON so that serialising it again reproduces every number digit for digit. In the result, a number is an
 * object that holds its text; `digitsOf` reads it.
 * @throws if the text is not JSON
 */
export function parseLossless(text: string): unknown {
  return parse(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined ? rawJSON(source) : value,
  )
}

/** The digits of a number as sent; null for anything else. */
export function digitsOf(value: unknown): string | null {
  return isRawJSON(value) ? value.rawJSON : null
}

/** The part of ECMAScript's JSON that TypeScript's library does not declare yet. */
type LosslessJson = {
  parse: (
    text: string,
    revive: (key: string, value: unknown, context: { source?: string }) => unknown,
  ) => unknown
  rawJSON: (text: string) => unknown
  isRawJSON: (value: unknown) => value is { rawJSON: string }
}

const { parse, rawJSON, isRawJSON } = JSON as unknown as LosslessJson
