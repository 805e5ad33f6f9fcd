import { expect, test } from 'vitest'
import type { TxId } from '../../../src/core/asset.ts'
import { inferProfile } from '../../../src/provider/infer/infer-profile.ts'
import { writeProfile } from '../../../src/provider/infer/write-profile.ts'
import { type ProofFacts, questionsOf } from '../../../src/provider/prove/facts.ts'
import { type ProvedProfile, proveProfile } from '../../../src/provider/prove/prove-profile.ts'
import { lives } from '../infer/lives.ts'
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

test('nodes are asked for every transaction of the samples, with every address that they name', () => {
  const hints = misleading.world.facts.hints
  const { transactions, addresses } = questionsOf({ payloads: [], answers: [lives] }, hints)
  expect(transactions).toContain(lives[0]?.source.transaction)
  expect(addresses).toContain(lives[0]?.source.address.toLowerCase())
  expect([...addresses]).toEqual(expect.arrayContaining([...hints.depositAddresses]))
})
