import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Fault } from '../../core/errors.ts'
import { isJson } from '../../intake/json.ts'
import { findSingle } from '../../provider/discover/find-paging.ts'
import { createProbe } from '../../provider/discover/probe.ts'
import { valueAt } from '../../provider/infer/columns.ts'
import { samplesInItems } from '../../provider/infer/find-items.ts'
import type { Section } from '../../provider/infer/find-records.ts'
import { comparable, type Hints } from '../../provider/infer/hints.ts'
import { inferProfile } from '../../provider/infer/infer-profile.ts'
import { writeProfile } from '../../provider/infer/write-profile.ts'
import { parseLossless } from '../../provider/lossless-json.ts'
import { parseProfile } from '../../provider/profile/parse-profile.ts'
import type { Profile } from '../../provider/profile/profile-schema.ts'
import type { ProofFacts } from '../../provider/prove/facts.ts'
import type { FieldProof } from '../../provider/prove/proof.ts'
import { type ProvedProfile, proveProfile } from '../../provider/prove/prove-profile.ts'
import { createServiceCall } from '../../provider/service-call.ts'
import { pinnedNetworks } from '../../store/assets.ts'
import { newestSamples } from '../../store/inbox.ts'
import { knownPlacesOf } from '../../store/owners.ts'
import { newestQuarantined } from '../../store/quarantine.ts'
import { withDatabase } from '../context.ts'
import { readChainFacts } from '../webhooks/chain-facts.ts'
import type { FoundCalls } from './discover.ts'
import { readList } from './read-list.ts'
import type { Session } from './session.ts'

/** Webhooks and records as the service sent them. */
export type OnboardSamples = { payloads: readonly unknown[]; records: readonly unknown[] }

export type OnboardProfile = {
  profile: Profile
  samples: OnboardSamples
  facts: ProofFacts
  proved: ProvedProfile
  /** By a person: what is proved is said of the inferred one. */
  isEdited: boolean
}

const webhooksMax = 500

/**
 * Infers the profile from webhooks and records, proves it by the chains and the address book, and writes it beside the
 * settings file. Until the book has the owners, those that the service lists stand in for it.
 * @throws Fault `settings_bad` if the samples give no valid profile
 */
export async function writeServiceProfile(
  session: Session,
  calls: FoundCalls,
  { isBookComplete }: { isBookComplete: boolean },
): Promise<OnboardProfile> {
  const hints = await hintsOf(session, isBookComplete ? null : calls)
  const samples = await readSamples(session, calls, hints)
  const answers = [listAnswer(calls, samples.records)]
  const of = samplesInItems({ payloads: samples.payloads, answers }, hints)
  const facts = await readChainFacts(of, hints, session.environment)
  const proved = proveProfile({ draft: inferProfile(of, hints), ...of }, facts)
  const whole = await withCalls(session, calls, { proved, samples })
  const path = profilePathOf(session)
  const inferred = writeProfile(whole, headingOf(session, whole, samples))
  const text = keepProposal(session, inferred)
  const { profile, faults } = parseProfile(text)
  if (profile === null)
    throw new Fault('settings_bad', {
      faults: faults.map((fault) => `${path}, ${fault}`),
      fix: `too few samples: let the service report more deposits, and run this command again; or correct ${path} and set it as profile`,
    })
  return { profile, samples, facts, proved: whole, isEdited: text !== inferred }
}

function textAt(path: string): string | null {
  return existsSync(path) ? readFileSync(path, 'utf8') : null
}

/** What a person edited counts. @returns the text of the profile */
function keepProposal(session: Session, text: string): string {
  const [path, proposal] = [profilePathOf(session), session.fileNamed('profile.yaml')]
  const [own, before] = [textAt(path), textAt(proposal)]
  writeFileSync(proposal, text)
  if (own !== null && own !== before) {
    session.say(`Keeps ${path}, which was edited. What is inferred now is in ${proposal}.`)
    return own
  }
  writeFileSync(path, text)
  return text
}

export function profilePathOf({ settingsPath, name }: Pick<Session, 'settingsPath' | 'name'>): string {
  return join(dirname(settingsPath), `${name}.yaml`)
}

/** As it is named in the settings file. */
export function profileSetting(session: Pick<Session, 'settingsPath' | 'name'>): string {
  return `./${basename(profilePathOf(session))}`
}

async function hintsOf(session: Session, proposed: FoundCalls | null): Promise<Hints> {
  const { settings } = session.service()
  return withDatabase(session.context, async (db) => {
    const networks = await pinnedNetworks(db, settings.networks)
    const book = await knownPlacesOf(db, session.name)
    if (proposed === null) return { networks, ...book }
    const { deposits, recipients, channels, wallets } = proposed.places
    return {
      networks,
      depositAddresses: new Set([...book.depositAddresses, ...deposits.map(comparable)]),
      recipients: new Set([...book.recipients, ...recipients.map(comparable)]),
      owners: new Map([
        ...book.owners,
        ...channels.map((id) => [id, 'channel'] as const),
        ...wallets.map((id) => [id, 'stable_wallet'] as const),
      ]),
    }
  })
}

/** A status that no sample has would be unknown to the profile. */
const livesMin = 3
const lookEveryMs = 2000

/** Waits until webhooks report some deposits from one status to the one that the API states, if that comes in time. */
async function readSamples(session: Session, calls: FoundCalls, hints: Hints): Promise<OnboardSamples> {
  const deadline = Date.now() + session.options.wait * 1000
  for (let isSaid = false; ; isSaid = true) {
    const samples = await readSamplesNow(session, calls)
    const lives = wholeLives(samples, listAnswer(calls, samples.records), hints)
    if (lives >= livesMin || Date.now() > deadline) return samples
    if (!isSaid)
      session.say(`Waits for webhooks that report ${livesMin} deposits to their end: ${lives} so far.`)
    await pause(lookEveryMs)
  }
}

/** Deposits with several statuses in webhooks, the last of which is that of the API. */
function wholeLives({ payloads, records }: OnboardSamples, answer: unknown, hints: Hints): number {
  const of = samplesInItems({ payloads, answers: [answer] }, hints)
  const draft = inferProfile(of, hints).profile
  const { record = {}, webhook = {} } = draft as Record<string, Record<string, unknown>>
  const [id, status] = [pathIn(record.id), pathIn(record.status)]
  const stated = new Map(records.map((one) => [valueAt(one, id), valueAt(one, status)]))
  const reported = of.payloads.map((payload) => valueAt(payload, pathIn(webhook.record)))
  return [...Map.groupBy(reported, (one) => valueAt(one, id))].filter(([key, all]) => {
    const words = new Set(all.map((one) => valueAt(one, status)))
    return key !== undefined && words.size > 1 && words.has(stated.get(key))
  }).length
}

/** Of a drafted field, alone or with options. */
function pathIn(field: unknown): string {
  if (typeof field === 'string') return field
  const { paths } = (field ?? {}) as { paths?: unknown }
  return typeof paths === 'string' ? paths : ''
}

/** The newest webhooks of the inbox and the quarantine, and the first records of the list. */
async function readSamplesNow(session: Session, calls: FoundCalls): Promise<OnboardSamples> {
  const { name, context } = session
  const kept = await withDatabase(context, async (db) => [
    ...(await newestSamples(db, 'webhook', { limit: webhooksMax, service: name })),
    ...(await newestQuarantined(db, webhooksMax, name)),
  ])
  const payloads = kept
    .toSorted((one, other) => one.receivedAt.getTime() - other.receivedAt.getTime())
    .filter(({ body }) => isJson(body))
    .map(({ body }) => parseLossless(body.toString()))
  return { payloads, records: await readList(session, calls.list, session.options.records) }
}

/** As one page of the list would have them. */
function listAnswer({ list }: FoundCalls, records: readonly unknown[]): unknown {
  const items = typeof list.items === 'string' ? list.items : null
  if (items === null) return records
  return items.split('.').reduceRight<unknown>((inner, key) => ({ [key]: inner }), records)
}

type KnownParts = { proved: ProvedProfile; samples: OnboardSamples }

/** The sections about calls were tried, so they replace what the answers alone suggest. */
async function withCalls(
  session: Session,
  calls: FoundCalls,
  { proved, samples }: KnownParts,
): Promise<ProvedProfile> {
  const one = await findOne(session, calls, { proved, samples })
  const own = calls.notes.map(
    ({ path, isProved, text }): FieldProof => ({
      path,
      proof: isProved ? { kind: 'proved', by: text } : { kind: 'unsure', why: text, alternatives: [] },
    }),
  )
  const isTried = ({ path }: FieldProof) => own.some((note) => note.path.join() === path.join())
  const {
    items: _items,
    pages: _pages,
    next: _next,
    firstPage: _firstPage,
    order: order0,
    ...rest
  } = (proved.profile.list ?? {}) as Section
  const isOrderProved = proved.proofs.some(
    ({ path, proof }) => path.join() === 'list,order' && proof.kind === 'proved',
  )
  const { order: triedOrder, ...tried } = calls.list
  const order = isOrderProved ? order0 : triedOrder
  const profile = {
    ...proved.profile,
    list: { ...rest, ...tried, ...(order !== undefined && { order }), ...(one !== null && { one }) },
    owners: {
      channels: calls.owners.channels ?? { list: null },
      wallets: calls.owners.wallets ?? { list: null },
    },
  }
  return {
    ...proved,
    profile,
    proofs: [...proved.proofs.filter((proof) => !isTried(proof)), ...own].filter(({ path }) =>
      isLine(profile, path),
    ),
  }
}

/** Words may contain dots. */
function isLine(profile: unknown, path: readonly string[]): boolean {
  const [name, ...rest] = path
  if (name === undefined) return profile !== undefined
  const inner = typeof profile === 'object' && profile !== null ? (profile as Section)[name] : undefined
  return inner !== undefined && isLine(inner, rest)
}

async function findOne(session: Session, { list }: FoundCalls, { proved, samples }: KnownParts) {
  const id = (proved.profile.record as { id?: string | { paths?: string } }).id
  const idPath = typeof id === 'string' ? id : id?.paths
  const [record] = samples.records
  if (idPath === undefined || record === undefined) return null
  const { service } = session.service()
  const { probe } = createProbe(createServiceCall({ ...service, attemptsMax: 2 }))
  return findSingle(probe, String(list.path), { idPath, record })
}

function headingOf({ name }: Session, { proofs, missing }: ProvedProfile, samples: OnboardSamples): string[] {
  const proved = proofs.filter(({ proof }) => proof.kind === 'proved').length
  return [
    `How depositd reads ${name}. Inferred from ${samples.payloads.length} webhooks and ${samples.records.length} records.`,
    `Proved: ${proved} of ${proofs.length} lines.${proved === proofs.length ? '' : ' Check each line that is marked as unsure.'}`,
    ...(missing.length === 0 ? [] : ['Missing samples:', ...missing.map((one) => `- ${one}`)]),
  ]
}
