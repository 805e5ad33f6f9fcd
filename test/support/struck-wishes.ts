import type { DepositKnob } from '../../src/service/faults/fault-table.ts'
import { decisions } from './mend-deposits.ts'
import { depositKnobs, type Wish } from './struck-payments.ts'
import type { World } from './world.ts'

const forwardKnobs = depositKnobs.filter((knob) => knob.includes('Forward'))
export const recordKnobs = [
  'hideRecordRate',
  'removeRecordRate',
  'editRecordRate',
  'renameOwnerRate',
] as const
/** Every knob strikes a channel's deposit; those of forwards one to Solana too, those of records a wallet's. */
export const wishes: { knob: DepositKnob | null; owner: string }[] = [
  ...depositKnobs.map((knob) => ({ knob, owner: 'shop' })),
  // What joins a forward waits for another.
  { knob: 'joinForwardRate', owner: 'shop' },
  { knob: 'joinForwardRate', owner: 'payroll' },
  ...forwardKnobs.map((knob) => ({ knob, owner: 'payroll' })),
  ...recordKnobs.map((knob) => ({ knob, owner: 'savings' })),
  ...['shop', 'payroll', 'savings'].map((owner) => ({ knob: null, owner })),
]

/** The payment that is wished, to the owner's address on Base. */
export function addressed(world: World, { knob, owner }: (typeof wishes)[number]): Wish {
  const places = world.owners.find((one) => one.owner.id === owner)?.deposits
  const to = places?.find(({ network }) => network === 'base')?.address
  if (to === undefined) throw new Error(`${owner} has no address on Base`)
  return { knob, owner, to }
}

/** Those whose mismatch a person ends. */
export const decided = wishes.flatMap(({ knob, owner }) =>
  knob !== null && knob in decisions ? [{ knob: knob as keyof typeof decisions, owner }] : [],
)
