import { existsSync, writeFileSync } from 'node:fs'
import { parse, stringify } from 'yaml'
import { Fault } from '../../core/errors.ts'
import {
  type FoundCall,
  findAddressLists,
  findDepositList,
  publishedPaths,
} from '../../provider/discover/find-calls.ts'
import { findFilter } from '../../provider/discover/find-filter.ts'
import { type DepositFacts, type FoundOwners, ownersIn } from '../../provider/discover/find-owners.ts'
import { findPaging, type ProofNote } from '../../provider/discover/find-paging.ts'
import { createProbe, type Probe } from '../../provider/discover/probe.ts'
import { columnsOf, isAddress, saidAt } from '../../provider/infer/columns.ts'
import { orderOf, type Section } from '../../provider/infer/find-records.ts'
import { comparable } from '../../provider/infer/hints.ts'
import { createServiceCall } from '../../provider/service-call.ts'
import { readTextFile } from '../files.ts'
import { readList } from './read-list.ts'
import type { Session } from './session.ts'

/** What is known of the calls of the service: sections of its profile, each line with what shows it. */
export type FoundCalls = {
  list: Section
  owners: { channels?: Section; wallets?: Section }
  notes: readonly ProofNote[]
  /** Of the owners, as they were listed. */
  places: { deposits: string[]; recipients: string[]; channels: string[]; wallets: string[] }
}

const callsFile = 'calls.yaml'

/** Only reads; what was found is kept in a file. @throws Fault `remote_failed` if no list of deposits is found */
export async function discover(session: Session): Promise<FoundCalls> {
  const path = session.fileNamed(callsFile)
  if (existsSync(path)) {
    session.say(`Found before: ${path}. Delete it to look again.`)
    return parse(readTextFile('calls', path)) as FoundCalls
  }
  const { service } = session.service()
  const { probe, counts } = createProbe(createServiceCall({ ...service, attemptsMax: 2 }))
  session.say(`Looks for the calls of ${service.url}. Only reads, with its key.`)
  const published = session.options.list === undefined ? await publishedPaths(probe) : [session.options.list]
  const call = await findDepositList(probe, published)
  if (call === null) throw noList(counts, session)
  const calls = await describeCalls(session, probe, { call, published })
  for (const { path: line, isProved, text } of calls.notes)
    session.say(`  ${isProved ? 'proved' : 'unsure'}  ${line.join('.')}: ${text}`)
  session.say(`${counts.requests} requests. The calls are in ${path}.`)
  writeFileSync(path, stringify(calls))
  return calls
}

function noList(
  { refusedKeys, answered }: { refusedKeys: number; answered: number },
  session: Session,
): Fault {
  const { service } = session.service()
  const what = `finding the list of deposits of ${service.url}`
  if (answered === 0 && refusedKeys > 0) {
    const fix = `correct ${service.auth.credential}, or ${session.at.service.join('.')}.auth (docs/settings.md#authentication)`
    return new Fault('remote_failed', { what, problem: 'the service refuses the key', fix })
  }
  const fix = 'make a first deposit, or give the path with --list, like --list /v1/deposits'
  return new Fault('remote_failed', {
    what,
    problem: 'no known path answers with transactions and addresses',
    fix,
  })
}

type DepositCall = FoundCall & { others: readonly string[] }

async function describeCalls(
  session: Session,
  probe: Probe,
  { call, published }: { call: DepositCall; published: readonly string[] },
): Promise<FoundCalls> {
  const { section, notes } = await findPaging(probe, call)
  const filter = await findFilter(probe, call)
  const records = await readList(session, section, session.options.records)
  const list = { ...section, ...orderOf(records), ...(filter !== null && { since: filter.section }) }
  const owners = await describeOwners(session, probe, { list: call.path, published, records })
  return {
    ...owners,
    list,
    notes: [pathNote(call), ...notes, filter?.note ?? noFilter, ...owners.notes],
  }
}

function pathNote({ path, others }: DepositCall): ProofNote {
  const isProved = others.length === 0
  const text = isProved
    ? `${path} lists transactions and addresses`
    : `other lists have transactions too: ${others.join(', ')}`
  return { path: ['list', 'path'], isProved, text }
}

const noFilter: ProofNote = {
  path: ['list'],
  isProved: false,
  text: 'no known parameter filters by time: changes of older records are seen by full readings (schedule.pollAll)',
}

async function describeOwners(
  session: Session,
  probe: Probe,
  { records, ...calls }: { list: string; published: readonly string[]; records: readonly unknown[] },
): Promise<Omit<FoundCalls, 'list'>> {
  const columns = columnsOf(records)
  const texts = columns.flatMap(saidAt).map(({ text }) => text)
  const deposits = { addresses: new Set(texts.filter(isAddress).map(comparable)), columns }
  const found: Omit<FoundCalls, 'list'> & { notes: ProofNote[] } = {
    owners: {},
    places: { deposits: [], recipients: [], channels: [], wallets: [] },
    notes: [],
  }
  for (const call of await findAddressLists(probe, calls)) {
    const { section: list } = await findPaging(probe, call)
    const one = await ownersOf(session, { call, list }, deposits)
    const section = one?.kind === 'channel' ? 'channels' : 'wallets'
    if (one === null || found.owners[section] !== undefined) continue
    found.owners[section] = { list, record: one.record }
    found.notes.push(...one.notes)
    found.places.deposits.push(...one.places.deposits)
    found.places.recipients.push(...one.places.recipients)
    found.places[section].push(...one.places.ids)
  }
  return found
}

const ownersMax = 5000

/** Of many owners, the first page may hold none that received one of the deposits read. */
async function ownersOf(
  session: Session,
  { call, list }: { call: FoundCall; list: Section },
  deposits: DepositFacts,
): Promise<FoundOwners | null> {
  const first = ownersIn(call.answer.listing?.records ?? [], deposits)
  return first ?? ownersIn(await readList(session, list, ownersMax), deposits)
}
