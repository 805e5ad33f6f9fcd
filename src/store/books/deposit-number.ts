/** Our number of a deposit, where the reference can be one. */
export function depositNumber(reference: string): bigint | null {
  return /^[1-9]\d{0,17}$/.test(reference) ? BigInt(reference) : null
}
