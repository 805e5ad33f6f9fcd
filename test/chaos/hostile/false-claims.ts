/** What a webhook of the service says of a deposit, where nothing else is asked for. */
export type FalseClaim = {
  /** Of the event. */
  id: string
  serviceId: string
  type?: string
  status?: string
  owner?: { type: string; id: string }
  source?: Partial<
    Record<'network' | 'address' | 'contract' | 'amount' | 'transaction' | 'index', string | null>
  >
}

const nobodys = `0x${'ab'.repeat(20)}`
const never = `0x${'cd'.repeat(32)}`

/** An event in the form of the project's own service (docs/deposit-service.md), whatever it says. */
export function ownClaim({ id, serviceId, type, status, owner, source }: FalseClaim): string {
  const at = new Date().toISOString()
  return JSON.stringify({
    id,
    type: type ?? 'deposit.detected',
    created_at: at,
    data: {
      id: serviceId,
      owner: owner ?? { type: 'channel', id: 'nobody-that-is-known' },
      status: status ?? 'detected',
      source: {
        network: 'base',
        address: nobodys,
        contract: null,
        amount: '100',
        transaction: never,
        index: '0',
        ...source,
      },
      destination: { network: null, address: 'nobody', contract: null, amount: null, transaction: null },
      fee: { amount: null },
      created_at: at,
      updated_at: at,
    },
  })
}
