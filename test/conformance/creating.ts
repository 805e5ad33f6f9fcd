import type { Fact, Run } from './fact.ts'
import { freshId, isSameAddress } from './identities.ts'
import { must, shown } from './outcome.ts'
import { addressesOf, createChannel, createWallet, fieldsOf, freshRule, type Rule, textOf } from './owners.ts'
import type { Subject } from './subject.ts'

type Created = { rule: Rule; answer: Record<string, unknown> }

/** One spelling to one network that the page gives as an example; the other spelling, and the other network. */
const makers = {
  asset: (subject: Subject) => create(subject, freshRule('base', 'asset')),
  token: (subject: Subject) => create(subject, freshRule('base', 'token')),
  solana: (subject: Subject) => create(subject, freshRule('solana', 'asset')),
}

async function create(subject: Subject, rule: Rule): Promise<Created> {
  return { rule, answer: await createChannel(subject, rule) }
}

type Check = (created: Created) => void

/** A test over channels that are made in these ways. */
function of(ways: readonly (keyof typeof makers)[], check: Check): Fact['test'] {
  return async (run) => {
    for (const way of ways) check(await run.once(makers[way]))
  }
}

function sameId({ rule, answer }: Created): void {
  must(textOf(answer, 'id') === rule.id, `id is ${shown(answer['id'])}, and was chosen to be ${rule.id}`)
}

function sameNetwork({ rule, answer }: Created): void {
  const stated = textOf(answer, 'forward_network')
  must(stated === rule.network, `forward_network is ${stated}, and was asked to be ${rule.network}`)
}

function sameAsset({ answer }: Created): void {
  const stated = textOf(answer, 'forward_asset_symbol')
  must(stated === 'USDC', `forward_asset_symbol is ${stated}, and USDC was asked for`)
}

function sameRecipient({ rule, answer }: Created): void {
  const stated = textOf(answer, 'forward_recipient')
  must(
    isSameAddress(stated, rule.recipient),
    `forward_recipient is ${stated}, and was asked to be ${rule.recipient}`,
  )
}

function hasAddresses({ answer }: Created): void {
  must(addressesOf(answer, 'addresses').length > 0, 'addresses is empty')
}

function wholeAnswer(created: Created): void {
  for (const check of [sameId, sameNetwork, sameAsset, sameRecipient, hasAddresses]) check(created)
}

/** The names of the request are not those of the answer. */
function responseNames(created: Created): void {
  sameAsset(created)
  sameRecipient(created)
  const others = ['forward_asset', 'forward_token', 'forward_address'].filter(
    (name) => created.answer[name] !== undefined,
  )
  must(others.length === 0, `the answer uses the names of a request: ${others.join()}`)
}

export const mustKeepChannelId = of(['asset'], sameId)
export const mustForwardToNetwork = of(['asset', 'solana'], sameNetwork)
export const mustTakeAsset = of(['asset'], sameAsset)
export const mustTakeToken = of(['token'], sameAsset)
export const mustTakeRecipient = of(['asset'], sameRecipient)
export const mustTakeAddress = of(['token'], sameRecipient)
export const mustTakeBothSpellings = of(['asset', 'token'], wholeAnswer)
export const mustAnswerSymbol = of(['asset'], sameAsset)
export const mustAnswerAddresses = of(['asset'], hasAddresses)
export const mustAnswerChannel = of(['asset'], wholeAnswer)
export const mustAnswerNames = of(['asset', 'token'], responseNames)

async function createOne(subject: Subject): Promise<{ id: string; answer: Record<string, unknown> }> {
  const id = freshId()
  return { id, answer: await createWallet(subject, id) }
}

/** Alone in its object, under the key that is stated. */
export async function mustWrapWallet(run: Run): Promise<void> {
  const { answer } = await run.once(createOne)
  const keys = Object.keys(answer)
  must(keys.join() === 'stable_wallet', `a single key stable_wallet is stated, and there are ${shown(keys)}`)
  fieldsOf(answer['stable_wallet'], 'stable_wallet')
}

export async function mustKeepWalletId(run: Run): Promise<void> {
  const { id, answer } = await run.once(createOne)
  const stated = textOf(fieldsOf(answer['stable_wallet'], 'stable_wallet'), 'id')
  must(stated === id, `id is ${stated}, and was chosen to be ${id}`)
}

export async function mustAnswerWallet(run: Run): Promise<void> {
  await mustWrapWallet(run)
  await mustKeepWalletId(run)
  const { answer } = await run.once(createOne)
  const addresses = addressesOf(fieldsOf(answer['stable_wallet'], 'stable_wallet'), 'deposit_addresses')
  must(addresses.length > 0, 'deposit_addresses is empty')
}
