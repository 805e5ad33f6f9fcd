import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import type { StatedOwner } from '../../core/address-book.ts'
import type { Owner } from '../../core/evidence.ts'
import { importOwners, refuseImport } from '../../jobs/import-owners.ts'
import { comparable } from '../../provider/infer/hints.ts'
import { connectOwners } from '../../provider/owners-client.ts'
import type { OwnerFileRow } from '../../provider/owners-file.ts'
import { knownPlaces } from '../../store/owners.ts'
import { withDatabase } from '../context.ts'
import type { OnboardProfile } from './profile.ts'
import type { Session } from './session.ts'

const kinds = [
  { kind: 'channel', file: 'channels.csv', section: 'channels', command: 'channels' },
  { kind: 'stable_wallet', file: 'wallets.csv', section: 'wallets', command: 'wallets' },
] as const

/**
 * Proposes the address book from the service's own lists, in files for a second person to check, and imports it. What the
 * service states about its addresses is not trusted before a person approved it.
 */
export async function proposeAddressBook(
  session: Session,
  { profile, facts }: OnboardProfile,
): Promise<void> {
  const { service } = session.service()
  const client = connectOwners(service, profile)
  const paid = new Set(
    [...facts.transactions.values()]
      .flat()
      .flatMap((fact) => ('transfers' in fact ? fact.transfers.map(({ to }) => to as string) : [])),
  )
  for (const { kind, file, section, command } of kinds) {
    if (profile.owners[section].list === null) {
      session.say(
        `The service lists no ${command}. Import them from a file: bin/depositd ${command} import FILE`,
      )
      continue
    }
    const stated = (await client.list(kind)) ?? []
    const rows = rowsOf(stated, session.options.since)
    const path = session.fileNamed(file)
    const text = csvOf(rows)
    writeFileSync(path, text)
    await reviewAndImport(session, { kind, rows, path, text, paid })
  }
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
  await withDatabase(context, async (db) => {
    const deps = { db, networks: settings.networks }
    const tried = await importOwners(deps, { kind, rows, isDryRun: true })
    if (tried.kind === 'refused') refuseImport(path, tried.faults)
    const { recipients } = await knownPlaces(db)
    const fresh = new Set(
      rows.flatMap(({ forward }) =>
        forward === null || recipients.has(comparable(forward.recipient)) ? [] : [forward.recipient],
      ),
    )
    const active = rows.filter(({ address }) => paid.has(comparable(address))).length
    say(`${path}: ${tried.owners} owners with ${tried.addresses} addresses, ${tried.added} of them new.`)
    say(
      `  Every address is valid on its network. ${active} of ${rows.length} received deposits of the samples.`,
    )
    for (const recipient of fresh)
      say(`  unsure  recipient ${recipient} is not in the address book yet: is it yours?`)
    if (tried.added === 0) return
    const digest = createHash('sha256').update(text).digest('hex').slice(0, 16)
    await session.agree(`Has a second person checked every line of ${path} (SHA-256 ${digest}…)?`)
    await importOwners(deps, { kind, rows, isDryRun: false })
    say(`  Imported.`)
  })
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
