import type { DemoChannel } from '../../src/sandbox/demo.ts'
import type { DepositKnob } from '../../src/service/faults/fault-table.ts'
import { decisions } from './fix-deposits.ts'
import { depositKnobs, forwardKnobs, type Wish } from './struck-payments.ts'
import type { World } from './world.ts'

export const recordKnobs = [
  'hideRecordRate',
  'removeRecordRate',
  'editRecordRate',
  'renameOwnerRate',
  'renameNetworkRate',
] as const
/** Forwards what it is paid as it is, so that a policy can say which share of it the service may keep. */
export const till: DemoChannel = {
  id: 'till',
  forwardNetwork: 'base',
  forwardAsset: 'ETH',
  forwardRecipient: '0x00000000000000000000000000000000000071aa',
}
/** As much as the service takes. */
export const routes = [
  { match: { asset: { in: 'base/native', out: 'base/native' } }, fee: { model: 'bps', bps: 10 } },
]

/** Every knob strikes a channel's deposit; those of forwards one to Solana too, those of records a wallet's. */
export const wishes: { knob: DepositKnob | null; owner: string }[] = [
  ...depositKnobs.map((knob) => ({ knob, owner: knob === 'overchargeRate' ? till.id : 'shop' })),
  // What joins a forward waits for another.
  { knob: 'joinForwardRate', owner: 'shop' },
  { knob: 'joinForwardRate', owner: 'payroll' },
  ...forwardKnobs.map((knob) => ({ knob, owner: 'payroll' })),
  ...recordKnobs.map((knob) => ({ knob, owner: 'savings' })),
  ...['shop', 'payroll', till.id, 'savings'].map((owner) => ({ knob: null, owner })),
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
