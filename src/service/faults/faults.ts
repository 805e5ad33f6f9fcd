import { createHmac } from 'node:crypto'

/**
 * Errors the service can be told to make, each with what it does and the mismatch that depositd must report for it.
 * They are the other side's errors that depositd exists to find.
 */
export const faultTable = {
  dropWebhookRate: {
    does: 'sends no webhook of a deposit, while the delivery log says that all were delivered',
    mismatch: 'webhook_missing',
  },
  shortForwardRate: {
    does: 'forwards a tenth less on the chain than the record and the webhooks claim',
    mismatch: 'settlement_short',
  },
} as const satisfies Record<string, { does: string; mismatch: string }>

export type FaultKnob = keyof typeof faultTable

export const faultKnobs = Object.keys(faultTable) as FaultKnob[]

/** Each rate is the share of deposits it strikes, from 0 to 1; the seed decides which. */
export type FaultSettings = { seed: string } & Record<FaultKnob, number>

export type Faults = {
  /** Whether the knob strikes this deposit: always the same answer for the same seed, rate and deposit. */
  strikes(knob: FaultKnob, deposit: { network: string; transaction: string; index: string }): boolean
  /** Changes some of the knobs while the service runs. */
  set(changes: Partial<FaultSettings>): void
  current(): FaultSettings
}

export function createFaults(initial: FaultSettings): Faults {
  let settings = initial
  return {
    current: () => settings,
    set: (changes) => {
      settings = { ...settings, ...changes }
    },
    strikes: (knob, { network, transaction, index }) =>
      draw(settings.seed, `${knob}/${network}/${transaction}/${index}`) < settings[knob],
  }
}

/** A share of one, evenly spread over the names. */
function draw(seed: string, name: string): number {
  return createHmac('sha256', seed).update(name).digest().readUInt32BE() / 2 ** 32
}
