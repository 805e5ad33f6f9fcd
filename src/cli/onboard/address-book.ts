import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import type { StatedOwner } from '../../core/address-book.ts'
import type { Owner } from '../../core/evidence.ts'
import { checkImport, refuseImport } from '../../jobs/import-owners.ts'
import { additionOf } from '../../jobs/people/address-procedures.ts'
import { comparable } from '../../provider/infer/hints.ts'
import { connectOwners } from '../../provider/owners-client.ts'
import type { OwnerFileRow } from '../../provider/owners-file.ts'
import { knownPlaces } from '../../store/owners.ts'
import { withDatabase } from '../context.ts'
import { wrongUse } from '../options.ts'
import type { FoundCalls } from './discover.ts'
import { askSince, estimateHistory, type HistoryEstimate, historyText } from './history.ts'
import { type OnboardProfile, profilePathOf } from './profile.ts'
import type { Session } from './session.ts'
import { signOrWait } from './sign-or-wait.ts'

const kinds = [
  { kind: 'channel', file: 'channels.csv', section: 'channels', command: 'channels' },
  { kind: 'stable_wallet', file: 'wallets.csv', section: 'wallets', command: 'wallets' },
] as const

/**
 * Proposes the address book from the service's own lists, in files for a second person to check, and imports it. What the
 * service states about its addresses is not trusted before a person approved it.
 * @returns what reading the history of new addresses takes; null if it is not read
 */
export async function proposeAddressBook(
  session: Session,
  { list, profile, facts }: OnboardProfile & Pick<FoundCalls, 'list'>,
): Promise<HistoryEstimate | null> {
  const lists = await listOwners(session, profile)
  const all = rowsOf(
    lists.flatMap(({ stated }) => stated),
    undefined,
  )
  const isNew = await withDatabase(session.context, async (db) => {
    const { depositAddresses } = await knownPlaces(db)
    return all.some(({ address }) => !depositAddresses.has(comparable(address)))
  })
  const since = isNew ? await askSince(session) : session.options.since
  if (since !== undefined) {
    session.file.set([...session.at.service, 'historySince'], since.toISOString())
    session.file.save()
  }
  const history =
    isNew && since !== undefined ? await estimateHistory(session, { list, profile, rows: all, since }) : null
  if (history !== null) session.say(historyText(history))
  const paid = new Set(
    [...facts.transactions.values()]
      .flat()
      .flatMap((fact) => ('transfers' in fact ? fact.transfers.map(({ to }) => to as string) : [])),
  )
  for (const { kind, stated } of lists) {
    const rows = rowsOf(stated, since)
    const path = session.fileNamed(kind.file)
    const text = csvOf(rows)
    writeFileSync(path, text)
    await reviewAndImport(session, { kind: kind.kind, rows, path, text, paid })
  }
  return history
}

/** A word that no sample explains is `unknown` in the profile. */
function refuseUnknownNetworks(session: Session, stated: readonly StatedOwner[], what: string): void {
  const { settings } = session.service()
  const known = new Set<string>(settings.networks.map(({ name }) => name))
  const networks = stated.flatMap(({ deposits, forward }) => [
    ...deposits.map(({ network }) => network),
    ...(forward === null ? [] : [forward.network]),
  ])
  const strange = new Set(networks.filter((network) => !known.has(network)))
  if (strange.size === 0) return
  throw wrongUse(
    `${what} are on networks that are not in the settings: ${[...strange].join(', ')}`,
    `let the service report deposits on each network and run this command again; or correct the section networks of ${profilePathOf(session)}, which keeps what you edited; or add the network to the settings`,
  )
}

type OwnerList = { kind: (typeof kinds)[number]; stated: readonly StatedOwner[] }

async function listOwners(session: Session, profile: OnboardProfile['profile']): Promise<OwnerList[]> {
  const client = connectOwners(session.service().service, profile)
  const lists: OwnerList[] = []
  for (const kind of kinds) {
    const { section, command } = kind
    if (profile.owners[section].list === null) {
      session.say(
        `No list of ${command} was found. If there are ${command}, import them from a file with ids like ${session.name}/ID: bin/depositd ${command} import FILE`,
      )
      continue
    }
    const stated = (await client.list(kind.kind)) ?? []
    refuseUnknownNetworks(session, stated, command)
    lists.push({ kind, stated })
  }
  return lists
}

type OwnerProposal = {
  kind: Owner['kind']
  rows: readonly OwnerFileRow[]
  path: string
  text: string
  paid: ReadonlySet<string>
}

async function reviewAndImport(
  session: Session,
  { kind, rows, path, text, paid }: OwnerProposal,
): Promise<void> {
  const { context, say } = session
  const { settings } = session.service()
  if (rows.length === 0) return say(`${path}: the list is empty.`)
  const entries = await withDatabase(context, async (db) => {
    const tried = await checkImport({ db, networks: settings.networks }, { kind, rows })
    if (tried.kind === 'refused') refuseImport(path, tried.faults)
    const { recipients } = await knownPlaces(db)
    const fresh = new Set(
      rows.flatMap(({ forward }) =>
        forward === null || recipients.has(comparable(forward.recipient)) ? [] : [forward.recipient],
      ),
    )
    const active = rows.filter(({ address }) => paid.has(comparable(address))).length
    say(
      `${path}: ${tried.owners === 1 ? '1 owner' : `${tried.owners} owners`} with ${tried.addresses} addresses, ${tried.added} of them new.`,
    )
    say(
      `  Every address is valid on its network. ${active} of ${rows.length} received deposits of the samples.`,
    )
    for (const recipient of fresh)
      say(`  unsure  recipient ${recipient} is not in the address book yet: is it yours?`)
    return tried.isNew ? tried.entries : []
  })
  if (entries.length === 0) return
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 16)
  await session.agree(`Is every line of ${path} (SHA-256 ${digest}…) right? You sign it.`)
  await signOrWait(session, { kind: 'addresses', change: additionOf(entries) })
  say('  Imported.')
}

function rowsOf(stated: readonly StatedOwner[], since: Date | undefined): OwnerFileRow[] {
  const rows = stated.flatMap(({ owner, deposits, forward }) =>
    deposits.map(({ network, address }) => ({
      id: owner.id,
      network,
      address,
      forward,
      ...(since && { createdAt: since }),
    })),
  )
  // The heading is line 1.
  return rows.map((row, place) => ({ line: place + 2, ...row }))
}

const columns = [
  'id',
  'network',
  'address',
  'forward_network',
  'forward_asset',
  'forward_recipient',
  'created_at',
]

function csvOf(rows: readonly OwnerFileRow[]): string {
  const lines = rows.map(({ id, network, address, forward, createdAt }) => [
    id,
    network,
    address,
    forward?.network ?? '',
    forward?.asset ?? '',
    forward?.recipient ?? '',
    createdAt?.toISOString() ?? '',
  ])
  return [columns, ...lines].map((cells) => `${cells.map(cell).join(',')}\n`).join('')
}

function cell(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
