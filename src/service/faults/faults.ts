import { createHmac } from 'node:crypto'
import { Fault } from '../../core/errors.ts'
import { type DepositKnob, type FaultKnob, faultKnobs, type RequestKnob } from './fault-table.ts'

/**
 * Each rate is a share from 0 to 1, 0 by default; the seed decides which items. `delayMs` delays delayed or late items.
 */
export type FaultSettings = { seed: string; delayMs?: number } & Partial<Record<FaultKnob, number>>

export type Faults = {
  /** Deterministic for the same seed, rate and deposit. */
  strikes(knob: DepositKnob, deposit: { network: string; transaction: string; index: string }): boolean
  /** Draws follow the seed in the order of the requests. */
  strikesRequest(knob: RequestKnob): boolean
  /** Drawn like the requests. */
  pick<Choice>(name: string, choices: readonly [Choice, ...Choice[]]): Choice
  /**
   * A new seed restarts its draws.
   * @throws Fault `settings_bad` with every invalid value, or if faults are not allowed
   */
  set(changes: Partial<FaultSettings>): void
  current(): Required<FaultSettings>
}

/** Longer than the demonstration waits for a webhook or a forward. */
const delayDefaultMs = 90_000
const delayMaxMs = 86_400_000

/** With null, no fault can be enabled. */
export function createFaults(initial: FaultSettings | null): Faults {
  let settings = { ...harmless, ...initial }
  const drawn = new Map<string, number>()
  const next = (name: string): number => {
    const place = drawn.get(name) ?? 0
    drawn.set(name, place + 1)
    return draw(settings.seed, `${name}/${place}`)
  }
  return {
    current: () => settings,
    set: (changes) => {
      const faults = initial === null ? ['faults are not allowed'] : findSettingFaults(changes)
      if (faults.length > 0) throw new Fault('settings_bad', { faults })
      settings = { ...settings, ...changes }
      if (changes.seed !== undefined) drawn.clear()
    },
    strikes: (knob, { network, transaction, index }) =>
      draw(settings.seed, `${knob}/${network}/${transaction}/${index}`) < settings[knob],
    strikesRequest: (knob) => next(knob) < settings[knob],
    pick: (name, choices) => choices[Math.floor(next(name) * choices.length)] ?? choices[0],
  }
}

export function findSettingFaults(settings: object): string[] {
  return Object.entries(settings).flatMap(([name, value]: [string, unknown]) => {
    const check = checks.get(name)
    if (check === undefined) return [`${name} is not a fault setting`]
    return check.fits(value) ? [] : [`${name} is not ${check.expected}`]
  })
}

type FaultSettingCheck = { expected: string; fits: (value: unknown) => boolean }

const rate: FaultSettingCheck = {
  expected: 'between 0 and 1',
  fits: (value) => typeof value === 'number' && value >= 0 && value <= 1,
}

const checks: ReadonlyMap<string, FaultSettingCheck> = new Map<string, FaultSettingCheck>([
  [
    'seed',
    {
      expected: 'a text of 1 to 200 characters',
      fits: (value) => typeof value === 'string' && value !== '' && value.length <= 200,
    },
  ],
  [
    'delayMs',
    {
      expected: `a whole number from 0 to ${delayMaxMs}`,
      fits: (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= delayMaxMs,
    },
  ],
  ...faultKnobs.map((knob): [string, FaultSettingCheck] => [knob, rate]),
])

export const harmless: Required<FaultSettings> = {
  seed: 'none',
  delayMs: delayDefaultMs,
  ...(Object.fromEntries(faultKnobs.map((knob) => [knob, 0])) as Record<FaultKnob, number>),
}

/** From 0 to below 1, evenly distributed over the names. */
function draw(seed: string, name: string): number {
  return createHmac('sha256', seed).update(name).digest().readUInt32BE() / 2 ** 32
}
