import { basename, extname } from 'node:path'
import { loadServiceProfile } from '../../app/service-profile.ts'
import type { ServiceSettings, Settings } from '../../config/settings.ts'
import { contradictionsOf, type OwnerEntry, type StatedOwner } from '../../core/address-book.ts'
import { defaultService, idAmongServices, type Owner, serviceOf } from '../../core/evidence.ts'
import { checkImport, refuseImport } from '../../jobs/import-owners.ts'
import { type AddressChange, additionOf } from '../../jobs/people/address-procedures.ts'
import { refuseRequester } from '../../jobs/people/decide.ts'
import { createChannel, createStableWallet, type ProvisionDeps } from '../../jobs/provision.ts'
import { entryColumns, ownerColumns } from '../../presentation/lists.ts'
import { columnsFor } from '../../presentation/text.ts'
import { connectOwners, type OwnersClient } from '../../provider/owners-client.ts'
import { readOwnersFile } from '../../provider/owners-file.ts'
import { type EntryHistory, listOwners, type OwnerAddressLine, readOwners } from '../../store/owners.ts'
import { missingEntries } from '../../store/signed-entries.ts'
import { attachedSettings, type Context, withDatabase } from '../context.ts'
import { readTextFile } from '../files.ts'
import { checkFilters } from '../filters.ts'
import { type ListKeyset, type ListOptions, pageOf, printList, readPage } from '../lists.ts'
import { choiceOf, textOf, wrongUse } from '../options.ts'
import { decideCommand } from '../people/decide.ts'
import { ownSigner, withDecisions } from '../people/signing.ts'
import { print, type TableColumn } from '../print.ts'

function connectTo(settings: Settings, service: ServiceSettings): OwnersClient {
  return connectOwners(service, loadServiceProfile(settings, service))
}

/** The default one unless another is named. @throws Fault `usage_bad` that lists the services */
function serviceIn({ services }: Settings, name: string = defaultService): ServiceSettings {
  const names = services.map((service) => service.name)
  const chosen = choiceOf('--service', name, names)
  const [first] = services
  return services.find((service) => service.name === chosen) ?? first
}

type OwnerOptions = { service?: string }

type BreakGlassOptions = { breakGlass?: string }

type ChannelOptions = OwnerOptions & BreakGlassOptions & { network: string; asset: string; recipient: string }

export async function createChannelCommand(
  context: Context,
  id: string,
  { service: serviceName, network, asset, recipient, breakGlass }: ChannelOptions,
): Promise<void> {
  const settings = attachedSettings(context)
  const service = serviceIn(settings, serviceName)
  const networks = settings.networks.map(({ name }) => name)
  choiceOf('--network', network, networks)
  const request = {
    id: idAmongServices(service.name, id),
    forwardNetwork: network,
    forwardAsset: asset,
    forwardRecipient: recipient,
  }
  const owners = connectTo(settings, service)
  await provision(context, breakGlass, (deps) => createChannel({ ...settings, ...deps, owners }, request))
}

/** Creates it at the service, and decides that its addresses are watched. */
async function provision(
  context: Context,
  breakGlass: string | undefined,
  create: (deps: Pick<ProvisionDeps, 'db' | 'save'>) => Promise<OwnerEntry>,
): Promise<void> {
  if (breakGlass === undefined)
    await withDecisions(context, (deps) => refuseRequester(deps, ownSigner(context), 'addresses'))
  let isNew = false
  const entry = await withDatabase(context, (db) =>
    create({ db, save: async (one) => void (isNew = (await missingEntries(db, [one])).length > 0) }),
  )
  if (!isNew) return printEntry(context, entry)
  await decideCommand(context, { kind: 'addresses', change: additionOf([entry]) }, breakGlass)
}

export async function createWalletCommand(
  context: Context,
  id: string,
  { service: name, breakGlass }: OwnerOptions & BreakGlassOptions,
): Promise<void> {
  const settings = attachedSettings(context)
  const service = serviceIn(settings, name)
  const owners = connectTo(settings, service)
  const unique = idAmongServices(service.name, id)
  await provision(context, breakGlass, (deps) => createStableWallet({ ...settings, ...deps, owners }, unique))
}

const paging: ListKeyset<OwnerBookLine> = {
  list: 'owners',
  keyOf: ({ id, network, address }) => [id, network, address],
}

export async function listOwnersCommand(
  context: Context,
  {
    kind,
    remote = false,
    service,
    ...options
  }: ListOptions & OwnerOptions & { kind: Owner['kind']; remote?: boolean },
): Promise<void> {
  const remotePage = remote ? pageOf(await listRemote(context, kind, service), options, paging) : null
  const { page, services } = await withDatabase(context, async (db) => ({
    services: await checkFilters(context, db, { service }),
    page:
      remotePage ??
      (await readPage<OwnerBookLine>(options, paging, ({ limit, after }) => {
        const [id = '', network = '', address = ''] = after ?? []
        return listOwners(db, { kind, service, limit, after: after && { id, network, address } })
      })),
  }))
  const shown = remote ? [...ownerColumns, bookColumn] : [...ownerColumns, ...entryColumns]
  printList(context, page, { columns: columnsFor(shown, services), empty: 'none yet' })
}

type OwnerBookLine = OwnerAddressLine & Partial<EntryHistory> & { book?: BookWord }

type BookWord = 'same' | 'differs' | 'unknown'

/** Of all services unless one is named. */
async function listRemote(context: Context, kind: Owner['kind'], name?: string): Promise<OwnerBookLine[]> {
  const settings = attachedSettings(context)
  const services = name === undefined ? settings.services : [serviceIn(settings, name)]
  const lists = await Promise.all(services.map((service) => listAt(settings, service, kind)))
  const listed = lists.flat()
  const ids = listed.map(({ owner }) => owner.id)
  const kept = await withDatabase(context, (db) => readOwners(db, kind, ids))
  const book = new Map(kept.map((entry) => [entry.owner.id, entry]))
  const bookOf = (stated: StatedOwner): BookWord => {
    const entry = book.get(stated.owner.id)
    if (entry === undefined) return 'unknown'
    return contradictionsOf(entry, stated, settings.networks).length === 0 ? 'same' : 'differs'
  }
  return listed.flatMap((stated) => linesOf(stated, bookOf(stated)))
}

async function listAt(
  settings: Settings,
  service: ServiceSettings,
  kind: Owner['kind'],
): Promise<readonly StatedOwner[]> {
  const listed = await connectTo(settings, service).list(kind)
  if (listed !== null) return listed
  const isAlone = settings.services.length === 1
  const which = isAlone ? 'the service' : `the service ${service.name}`
  const problem = `${which} does not list its ${kind === 'channel' ? 'channels' : 'wallets'}`
  const others = isAlone ? '' : ', or name another service with --service'
  throw wrongUse(problem, `omit --remote, and import them from a file${others}`)
}

function linesOf({ owner, deposits, forward }: StatedOwner, book: BookWord): OwnerBookLine[] {
  return deposits.map(({ network, address }) => ({
    service: serviceOf(owner.id),
    id: owner.id,
    network,
    address,
    forward_network: forward?.network ?? null,
    forward_asset: forward?.asset ?? null,
    forward_recipient: forward?.recipient ?? null,
    book,
  }))
}

const bookColumn: TableColumn<OwnerBookLine> = { title: 'BOOK', value: ({ book }) => book ?? '' }

function printEntry(context: Context, { owner, deposits, forward }: OwnerEntry): void {
  const lines = deposits.map(({ network, address }) => `  ${network.padEnd(10)} ${address}\n`)
  const text = `${owner.kind} ${owner.id} is watched already; deposit addresses:\n${lines.join('')}`
  print(context, { owner, deposits, forward }, text)
}

export async function importOwnersCommand(
  context: Context,
  file: string,
  {
    kind,
    dryRun: isDryRun = false,
    breakGlass,
  }: BreakGlassOptions & { kind: Owner['kind']; dryRun?: boolean },
): Promise<void> {
  const format = formatOf(file)
  const { networks } = attachedSettings(context)
  const { rows, faults } = readOwnersFile(readTextFile(file, file), { format, kind })
  // Checked even if other rows are not readable, so that all errors are reported at once.
  const checked = await withDatabase(context, (db) => checkImport({ db, networks }, { kind, rows }))
  if (checked.kind === 'refused' || faults.length > 0)
    refuseImport(basename(file), [...faults, ...(checked.kind === 'refused' ? checked.faults : [])])
  const { entries, owners, added, addresses, isNew } = checked
  const known = owners - added
  const news = `${added} ${isDryRun ? 'would be ' : ''}added, ${known} already in the address book`
  const text = `${owners === 1 ? '1 owner' : `${owners} owners`} with ${addresses} addresses; ${news}\n`
  if (isDryRun || !isNew) return print(context, { owners, added, addresses, dryRun: isDryRun }, text)
  if (!context.json) context.stdout.write(text.replace('added', 'new'))
  await decideCommand(context, { kind: 'addresses', change: additionOf(entries) }, breakGlass)
}

function formatOf(file: string): 'csv' | 'json' {
  const extension = extname(file).toLowerCase()
  if (extension === '.csv') return 'csv'
  if (extension === '.json') return 'json'
  throw wrongUse(`${file} is neither .csv nor .json`, 'rename the file to .csv or .json')
}

type RetireOptions = BreakGlassOptions & {
  kind: Owner['kind']
  reason: string
  network?: string
  at?: Date
  withdraw?: boolean
}

/** The id is that of the list, unique among services. */
export async function retireCommand(
  context: Context,
  id: string,
  { kind, network: name, at = new Date(), withdraw = false, reason, breakGlass }: RetireOptions,
): Promise<void> {
  const networks = attachedSettings(context).networks.map((one) => one.name)
  const change: AddressChange = {
    action: 'end',
    owner: { kind, id },
    network: name === undefined ? null : choiceOf('--network', name, networks),
    until: withdraw ? null : at.toISOString(),
    reason: textOf('--reason', reason),
  }
  await decideCommand(context, { kind: 'addresses', change }, breakGlass)
}
