import type { Kysely, Transaction } from 'kysely'
import { Fault } from '../../core/errors.ts'
import { eventTypes } from '../../core/event.ts'
import { openPoster } from '../../outbox/post-webhook.ts'
import type { SecretVault } from '../../outbox/secret-vault.ts'
import { makeSecret, readSecret, type SignatureName, schemesByName } from '../../outbox/signing-key.ts'
import { canonicalUrl, findUrlFault, isPrivateUrl } from '../../outbox/webhook-url.ts'
import { didYouMean } from '../../presentation/text.ts'
import {
  type EndpointAct,
  type EndpointChange,
  editEndpoint,
  pauseEndpoint,
  removeEndpoint,
  replayEndpoint,
  resumeEndpoint,
  rotateEndpoint,
} from '../../store/change-endpoints.ts'
import { inTransaction } from '../../store/database.ts'
import {
  createEventEndpoint,
  type EndpointContent,
  type EventEndpoint,
  endpointNameForm,
  namedEndpoint,
  type WrittenContent,
} from '../../store/event-endpoints.ts'
import { ownerIdsKnown } from '../../store/owners.ts'
import { recordAccess } from '../../store/sessions.ts'
import { servicesKnown } from '../../store/streams.ts'
import type { Tables } from '../../store/tables.ts'
import { eventTimeoutMs, type SentTest, sendTest } from './event-request.ts'
import { keyMissing } from './send-events.ts'

export type EndpointDeps = {
  db: Kysely<Tables>
  /** Null without the key of the settings. */
  vault: SecretVault | null
  /** Whether endpoints may have private addresses. */
  allowPrivate: boolean
  /** Of the settings. */
  services: readonly string[]
}

export type NewEndpointRequest = EndpointAct & WrittenContent & { signature: SignatureName }

/** `verifyWith`: the secret, or the public key, which is all that the receiver needs. */
export type EndpointWithKey = { endpoint: EventEndpoint; verifyWith: string }

/**
 * What administrators do with event endpoints, at the command line and in the console. Each act is in the audit log, in its
 * transaction.
 * @throws Fault `usage_bad` that names the value, `not_found`, or `settings_bad` without the key
 */
export async function makeEndpoint(
  deps: EndpointDeps,
  { name, by, signature, ...content }: NewEndpointRequest,
): Promise<EndpointWithKey> {
  if (!endpointNameForm.test(name))
    throw refused(
      `the name is ${JSON.stringify(name)}`,
      'use lower-case letters, digits, ".", "_" and "-", at most 63 of them',
    )
  const vault = vaultOf(deps)
  const secret = makeSecret(schemesByName[signature])
  const checked = await checkContent(deps, content)
  const endpoint = await inTransaction(deps.db, (tx) =>
    createEventEndpoint(tx, vault, { ...checked, name, secret, by }),
  )
  return { endpoint, verifyWith: verifierOf(secret) }
}

/** @returns the endpoint after the change; as it was if it was removed */
export async function changeEndpoint(
  deps: EndpointDeps,
  act: EndpointAct,
  change: EndpointChange,
): Promise<EventEndpoint> {
  const make = await changeOf(deps, change)
  return inTransaction(deps.db, async (tx) => {
    const before = await namedEndpoint(tx, act.name)
    await make(tx, act)
    return change.action === 'remove' ? before : namedEndpoint(tx, act.name)
  })
}

type MakeChange = (tx: Transaction<Tables>, act: EndpointAct) => Promise<unknown>

const changes = { pause: pauseEndpoint, resume: resumeEndpoint, remove: removeEndpoint } as const

async function changeOf(deps: EndpointDeps, change: EndpointChange): Promise<MakeChange> {
  if (change.action === 'replay') return (tx, act) => replayEndpoint(tx, { ...act, from: change.from })
  if (change.action !== 'edit') return changes[change.action]
  const content = await checkContent(deps, change)
  return (tx, act) => editEndpoint(tx, { ...content, ...act })
}

/** Until `endsAt`, the secret before signs too. */
export async function rotateSecret(
  deps: EndpointDeps,
  act: EndpointAct,
  { signature, overlapMs }: { signature: SignatureName; overlapMs: number },
): Promise<EndpointWithKey & { endsAt: Date }> {
  const vault = vaultOf(deps)
  const secret = makeSecret(schemesByName[signature])
  const endsAt = new Date(Date.now() + overlapMs)
  const endpoint = await inTransaction(deps.db, async (tx) => {
    await rotateEndpoint(tx, vault, { ...act, secret, endsAt })
    return namedEndpoint(tx, act.name)
  })
  return { endpoint, endsAt, verifyWith: verifierOf(secret) }
}

export async function testEndpoint(deps: EndpointDeps, { name, by }: EndpointAct): Promise<SentTest> {
  const { db, allowPrivate } = deps
  const vault = vaultOf(deps)
  const poster = openPoster({ allowPrivate, timeoutMs: eventTimeoutMs })
  try {
    const sent = await sendTest({ db, vault, poster, now: () => new Date() }, name)
    await recordAccess(db, { person: by, action: 'endpoint_changed', detail: `${name}: test event sent` })
    return sent
  } finally {
    poster.close()
  }
}

function vaultOf({ vault }: EndpointDeps): SecretVault {
  if (vault === null) throw keyMissing()
  return vault
}

function verifierOf(secret: string): string {
  return readSecret(secret)?.publicKey ?? secret
}

/** Fields that are missing stay so. */
async function checkContent<Written extends Partial<WrittenContent>>(
  deps: EndpointDeps,
  written: Written,
): Promise<Written & Partial<EndpointContent>> {
  const { url, types, services, owners } = written
  for (const service of services ?? []) {
    const known = new Set([...deps.services, ...(await servicesKnown(deps.db, service))])
    choose(service, [...known], { what: 'service' })
  }
  for (const owner of owners ?? []) {
    const fix = 'use an id from "bin/depositd channels list" or "bin/depositd wallets list"'
    choose(owner, await ownerIdsKnown(deps.db, owner), { what: 'channel or wallet', fix })
  }
  return {
    ...written,
    ...(url !== undefined && { url: checkUrl(url, deps) }),
    ...(types && { types: types.map((type) => choose(type, eventTypes, { what: 'type' })) }),
  }
}

function checkUrl(text: string, { allowPrivate }: EndpointDeps): string {
  const fault = findUrlFault(text)
  if (fault !== null) throw refused(`the URL ${fault}`, 'give an address like https://shop.example/events')
  if (!allowPrivate && isPrivateUrl(text))
    throw refused(
      `the URL ${JSON.stringify(text.slice(0, 100))} is private`,
      'use a public address, or set events.allowPrivate: true',
    )
  return canonicalUrl(text)
}

function choose<Word extends string>(
  text: string,
  words: readonly Word[],
  { what, fix = `use ${words.join(', ')}` }: { what: string; fix?: string },
): Word {
  const word = words.find((one) => one === text)
  if (word !== undefined) return word
  const problem = `there is no ${what} ${JSON.stringify(text.slice(0, 100))}`
  throw refused(problem, `${didYouMean(text, words)}${fix}`)
}

function refused(problem: string, fix: string): Fault<'usage_bad'> {
  return new Fault('usage_bad', { problem, fix })
}
