import { expect, test } from 'vitest'
import type { Address, TxId } from '../../../src/core/asset.ts'
import type { ChainTransfer } from '../../../src/core/evidence.ts'
import { toAmount } from '../../../src/core/money.ts'
import { inferProfile } from '../../../src/provider/infer/infer-profile.ts'
import { writeProfile } from '../../../src/provider/infer/write-profile.ts'
import { parseLossless } from '../../../src/provider/lossless-json.ts'
import { parseProfile } from '../../../src/provider/profile/parse-profile.ts'
import { type ProofFacts, questionsOf } from '../../../src/provider/prove/facts.ts'
import { type ProvedProfile, proveProfile } from '../../../src/provider/prove/prove-profile.ts'
import { createClaimReader } from '../../../src/provider/read-claim.ts'
import { creditAsset, lives } from '../infer/lives.ts'
import { makeShape, type Shape } from './render-shape.ts'

function shapeWhere(isWanted: (shape: Shape) => boolean): Shape {
  const seed = Array.from({ length: 400 }, (_, number) => number + 1).find((one) => isWanted(makeShape(one)))
  if (seed === undefined) throw new Error('no such shape')
  return makeShape(seed)
}

/** Plain, and the service calls base what others call mainnet. */
const misleading = shapeWhere(
  (shape) =>
    shape.isPlain && shape.networkWords.get('base') === 'mainnet' && prove(shape).proofs.every(isProved),
)

function isProved({ path, proof }: ProvedProfile['proofs'][number]): boolean {
  return path[0] === 'list' || proof.kind === 'proved'
}

function prove({ payloads, answers, world }: Shape, facts: ProofFacts = world.facts): ProvedProfile {
  const draft = inferProfile({ payloads, answers }, facts.hints)
  return proveProfile({ draft, payloads, answers }, facts)
}

const proofAt = ({ proofs }: ProvedProfile, path: string) =>
  proofs.find((one) => one.path.join('.') === path)?.proof

test('if a name and the chains disagree, the chains win', () => {
  const { payloads, answers, world } = misleading
  const draft = inferProfile({ payloads, answers }, world.facts.hints)
  expect(draft.profile.networks).not.toMatchObject({ base: 'mainnet' })
  const proved = prove(misleading)
  expect(proved.profile.networks).toMatchObject({ base: 'mainnet' })
  expect(proofAt(proved, 'networks.base')).toMatchObject({ kind: 'proved' })
})

test('each line of the written profile has its proof or its doubt', () => {
  const proved = prove(misleading)
  const text = writeProfile(proved, [])
  for (const { path, proof } of proved.proofs) {
    const name = path.at(-1)
    const remark = proof.kind === 'proved' ? `# proved: ${proof.by}` : `# unsure: ${proof.why}`
    expect(text.split('\n')).toContainEqual(
      expect.stringMatching(new RegExp(`^ *.*${escaped(name ?? '')}.*${escaped(remark)}`)),
    )
  }
})

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
}

test('without nodes nothing that a chain would prove is proved, and each line says why', () => {
  const { facts } = misleading.world
  const offline = prove(misleading, { ...facts, transactions: new Map(), isOffline: true })
  expect(proofAt(offline, 'record.deposit.amount')).toMatchObject({
    kind: 'unsure',
    why: 'no node was asked',
  })
  const away = { ...facts, transactions: new Map(), silent: [{ network: 'base', problem: 'timeout' }] }
  const silent = prove(misleading, away)
  expect(proofAt(silent, 'record.deposit.amount')).toMatchObject({ why: 'not looked up: base not reached' })
  expect(silent.missing).toContain('transactions on base: timeout')
})

test('a kind of event that names withdrawals is one of withdrawals, by its word alone', () => {
  const shape = shapeWhere((one) => proofAt(prove(one), 'webhook.kind.words.ping') !== undefined)
  const renamed = JSON.stringify(shape.payloads).replaceAll('"ping"', '"withdrawal.sent"')
  const proved = prove({ ...shape, payloads: parseLossless(renamed) as Shape['payloads'] })
  expect(proved.profile.webhook).toMatchObject({ kind: { words: { 'withdrawal.sent': 'withdrawal' } } })
  expect(proofAt(proved, 'webhook.kind.words.withdrawal.sent')).toMatchObject({ kind: 'unsure' })
})

test('if one network cannot be asked, its word alone is unsure', () => {
  const { facts } = misleading.world
  const transactions = new Map(
    [...facts.transactions].filter(([, found]) => found.every(({ network }) => network !== 'mainnet')),
  )
  const proved = prove(misleading, {
    ...facts,
    transactions,
    silent: [{ network: 'mainnet', problem: 'timeout' }],
  })
  expect(proofAt(proved, 'networks.base')).toMatchObject({ kind: 'unsure', why: 'no chain decides it' })
  expect(proofAt(proved, 'record.deposit.amount')).toMatchObject({ kind: 'proved' })
})

test('two samples are too few, and the missing ones are named', () => {
  const { payloads, answers, world } = misleading
  const [one, two] = world.deposits
  const known = new Set<TxId | undefined>([one?.payment.tx, two?.payment.tx])
  const transactions = new Map([...world.facts.transactions].filter(([tx]) => known.has(tx)))
  const proved = prove({ ...misleading, payloads, answers }, { ...world.facts, transactions })
  expect(proofAt(proved, 'record.deposit.amount')).toMatchObject({
    why: 'only 2 deposits seen; 3 are needed',
  })
  expect(proved.missing).toContain('1 more deposits whose payments a chain shows')
  expect(proved.missing).toContain('3 more deposits whose deliveries a chain shows')
})

const split = shapeWhere((shape) => shape.isPlain && isSplit(shape) && prove(shape).proofs.every(isProved))

function isSplit({ truth, world }: Shape): boolean {
  const [path = ''] = truth.get('settlement.transaction') ?? []
  return path.startsWith('payouts.*.') && world.others.some(({ delivery }) => delivery?.parts.length === 2)
}

test('payouts in a list of the record are found and proved, and all of them are read', () => {
  const proved = prove(split)
  const { profile } = parseProfile(writeProfile(proved, []))
  if (profile === null) throw new Error('no profile')
  const deposit = split.world.others.find(({ delivery }) => delivery?.parts.length === 2)
  const last = (deposit?.steps.length ?? 0) - 1
  const body = Buffer.from(JSON.stringify(deposit && split.recordOf(deposit, last)))
  const read = createClaimReader(profile, { networks: split.world.networks, creditAsset })
  const [tx, ...furtherTxs] = deposit?.delivery?.parts.map((part) => part.tx) ?? []
  const amount = deposit?.delivery?.transfer.amount
  expect(read({ source: 'api', body, receivedAt: new Date(0) })).toMatchObject({
    kind: 'claim',
    claim: { settlement: { tx, furtherTxs, amount } },
  })
})

const paths = ({ profile }: ProvedProfile) => JSON.stringify(profile.record)

test('a list of which one transaction failed is no list of payouts', () => {
  const { facts, deposits } = split.world
  expect(paths(prove(split))).toContain('payouts.*.')
  const [part] = deposits.flatMap(({ delivery }) => (delivery?.parts.length === 2 ? delivery.parts : []))
  if (part === undefined) throw new Error('no delivery in parts')
  const transactions = new Map(facts.transactions).set(part.tx, [{ kind: 'failed', network: part.network }])
  expect(paths(prove(split, { ...facts, transactions }))).not.toContain('payouts.*.')
})

const refunding = shapeWhere(
  (shape) =>
    shape.truth.has('refund.transaction') &&
    proofAt(prove(shape), 'record.refund.transaction')?.kind === 'proved' &&
    proofAt(prove(shape), 'record.status.paths')?.kind === 'proved',
)
const refundPath = 'record.refund.transaction'

test('the transaction of a refund and its status are proved by payments that went back to their payers', () => {
  const proved = prove(refunding)
  const [path] = refunding.truth.get('refund.transaction') ?? []
  expect(JSON.stringify(proved.profile.record)).toMatch(
    new RegExp(`"refund":\\{"transaction":(?:\\{"paths":)?"${escaped(path ?? '')}"`),
  )
  expect(proofAt(proved, refundPath)).toMatchObject({
    by: expect.stringContaining('to its payer') as unknown,
  })
  expect(proofAt(proved, 'record.status.words.REFUNDED')).toMatchObject({ kind: 'proved' })
})

test.each<[string, (refund: ChainTransfer) => Partial<ChainTransfer>]>([
  ['another address than the payer', () => ({ to: `0x${'ab'.repeat(20)}` as Address })],
  ['a part of the payment', ({ amount }) => ({ amount: toAmount(amount - 1n) })],
])('what returned %s proves no refund', (_what, changed) => {
  const { facts, deposits } = refunding.world
  const transactions = new Map(facts.transactions)
  for (const { refund } of deposits) {
    if (refund === null) continue
    const transfers = [{ ...refund, ...changed(refund) }]
    transactions.set(refund.tx, [{ kind: 'moved', network: refund.network, transfers }])
  }
  const proved = prove(refunding, { ...facts, transactions })
  expect(proofAt(proved, refundPath)?.kind).not.toBe('proved')
  expect(proofAt(proved, 'record.status.words.REFUNDED')?.kind).not.toBe('proved')
})

test('a number that counts is no id of a deposit, whatever its name', () => {
  const { world, recordOf } = misleading
  const records = world.deposits.map((deposit) => {
    const { number, steps } = deposit
    return { ...(recordOf(deposit, steps.length - 1) as object), id: 4000 + number, code: `D-${number}-x` }
  })
  const draft = inferProfile({ payloads: [], answers: [records] }, world.facts.hints)
  const { profile } = proveProfile({ draft, payloads: [], answers: [records] }, world.facts)
  expect(profile).not.toMatchObject({ record: { id: 'id' } })
})

const foreignWords = shapeWhere(
  ({ isPlain, networkWords, truth }) =>
    isPlain &&
    [...(truth.get('deposit.network') ?? [])].some((path) => /network|chain/.test(path)) &&
    [...networkWords.keys()].every((word) => word.startsWith('n-')),
)

test.each([
  ['known words', misleading],
  ['a name of networks', foreignWords],
])(
  'of two fields with a word per network, that with %s is taken as unsure, and its words as the chains have them',
  (_what, shape) => {
    const { world, recordOf, truth, networkWords } = shape
    const tiers = [...networkWords.values()]
    const records = world.deposits.map((deposit) => ({
      incoming_network: 'live',
      tier: `tier${tiers.indexOf(deposit.payment.network)}`,
      ...(recordOf(deposit, deposit.steps.length - 1) as object),
    }))
    const draft = inferProfile({ payloads: [], answers: [records] }, world.facts.hints)
    const proved = proveProfile({ draft, payloads: [], answers: [records] }, world.facts)
    const [path] = truth.get('deposit.network') ?? []
    expect(proved.profile).toMatchObject({ record: { deposit: { network: path } } })
    expect(proofAt(proved, 'record.deposit.network')).toMatchObject({
      kind: 'unsure',
      alternatives: ['tier'],
    })
    expect(proved.profile.networks).toEqual(Object.fromEntries(networkWords))
    expect(proved.proofs.filter(isProved).map(({ path: [section] }) => section)).toContain('networks')
  },
)

test('nodes are asked for every transaction of the samples, with every address that they name', () => {
  const hints = misleading.world.facts.hints
  const { transactions, addresses } = questionsOf({ payloads: [], answers: [lives] }, hints)
  expect(transactions).toContain(lives[0]?.source.transaction)
  expect(addresses).toContain(lives[0]?.source.address.toLowerCase())
  expect([...addresses]).toEqual(expect.arrayContaining([...hints.depositAddresses]))
})
