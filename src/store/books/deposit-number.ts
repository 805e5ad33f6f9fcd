/** The reference as our number of a deposit; null if it cannot be one. */
export function depositNumber(reference: string): bigint | null {
  return /^[1-9]\d{0,17}$/.test(reference) ? BigInt(reference) : null
}
