/** The fee that a token withholds from each transfer: a share of it, rounded up, at most `most`. */
export type TransferFee = { basisPoints: bigint; most: bigint }

const whole = 10_000n

export function feeOn({ basisPoints, most }: TransferFee, sent: bigint): bigint {
  const fee = (sent * basisPoints + whole - 1n) / whole
  return fee < most ? fee : most
}

/** The least amount to send so that exactly `arriving` arrives. */
export function sentFor({ basisPoints, most }: TransferFee, arriving: bigint): bigint {
  const kept = whole - basisPoints
  if (arriving === 0n) return 0n
  const capped = arriving + most
  if (kept === 0n) return capped
  const sent = (arriving * whole + kept - 1n) / kept
  return sent < capped ? sent : capped
}
