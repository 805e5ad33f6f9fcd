import type { StatedOwner } from '../core/address-book.ts'
import { messageOf } from '../core/errors.ts'
import { idAmongServices, idAtService, type Owner, type ServiceName } from '../core/evidence.ts'
import { createDepositClient, type DepositPage, type Service } from './deposit-client.ts'
import { parseLossless } from './lossless-json.ts'
import type { PageMark } from './paging.ts'
import { compilePath, compileRequired } from './profile/find-field.ts'
import type { Profile } from './profile/profile-schema.ts'
import {
  createServiceCall,
  failure,
  type HttpRequest,
  type ProviderSettings,
  type ServiceAnswer,
  type ServiceCall,
} from './service-call.ts'

export type NewChannel = {
  id: string
  forwardNetwork: string
  forwardAsset: string
  forwardRecipient: string
}

/** Ids are unique among services. */
export type OwnersClient = {
  createChannel: (channel: NewChannel) => Promise<StatedOwner>
  createStableWallet: (id: string) => Promise<StatedOwner>
  /** Null if the service has no list. */
  list: (kind: Owner['kind']) => Promise<readonly StatedOwner[] | null>
}

export function connectOwners(
  settings: ProviderSettings & Pick<Service, 'name'>,
  profile: Profile,
): OwnersClient {
  return createOwnersClient({ ...settings, call: createServiceCall(settings) }, profile)
}

const pagesMax = 10_000

/**
 * Creation is idempotent: if the service refuses an existing id, the entry in its list is the result.
 * @throws Fault `remote_failed` from every call
 */
export function createOwnersClient(service: Service, profile: OwnersProfile): OwnersClient {
  const { channels, wallets } = profile.owners
  const sides = {
    channel: { ...channels, read: compileOwnerReader({ kind: 'channel', service: service.name }, profile) },
    stable_wallet: {
      ...wallets,
      read: compileOwnerReader({ kind: 'stable_wallet', service: service.name }, profile),
    },
  }
  const list: OwnersClient['list'] = (kind) => listAll(service, sides[kind])
  const create = async (owner: Owner, body: Record<string, string>): Promise<StatedOwner> => {
    const { create: creation, read } = sides[owner.kind]
    const request: HttpRequest = { method: 'POST', path: creation.path, body }
    const answer = await service.call(request)
    if (answer.kind === 'answered') return understood(request, () => read(answer.body))
    const listed = isOfKey(answer) ? null : await list(owner.kind)
    const found = listed?.find((one) => one.owner.id === owner.id)
    if (found === undefined) throw failure(request, answer.problem)
    return found
  }
  return {
    list,
    createChannel({ id, forwardNetwork, forwardAsset, forwardRecipient }) {
      const names = channels.create.body
      return create(
        { kind: 'channel', id },
        {
          [names.id]: idAtService(id),
          [names.network]: theirWord(profile, forwardNetwork),
          [names.asset]: forwardAsset,
          [names.recipient]: forwardRecipient,
        },
      )
    },
    createStableWallet: (id) =>
      create({ kind: 'stable_wallet', id }, { [wallets.create.body.id]: idAtService(id) }),
  }
}

type OwnerListSource = {
  list: Profile['owners']['channels']['list']
  record: Pick<Profile['record'], 'id'>
  read: (value: unknown) => StatedOwner
}

async function listAll(
  service: Service,
  { list, record, read }: OwnerListSource,
): Promise<readonly StatedOwner[] | null> {
  if (list === null) return null
  const request: HttpRequest = { method: 'GET', path: list.path }
  const pages = createDepositClient({ ...service, call: refusingUnlisted(service.call) }, { list, record })
  const owners: StatedOwner[] = []
  let mark: PageMark = null
  try {
    for (let count = 0; count < pagesMax; count++) {
      const page: DepositPage | null = await pages.listDeposits({ mark, since: null })
      if (page === null) throw failure(request, 'the service refuses the next page of its list')
      owners.push(...understood(request, () => page.records.map(({ text }) => read(parseLossless(text)))))
      if (page.next === null) return joined(owners)
      mark = page.next.mark
    }
  } catch (error) {
    if (error instanceof Unlisted) return null
    throw error
  }
  throw failure(request, `there are more than ${pagesMax} pages`)
}

/** Records of one address each make one owner. Pages may overlap. */
function joined(owners: readonly StatedOwner[]): StatedOwner[] {
  return [...Map.groupBy(owners, ({ owner }) => owner.id).values()].flatMap(([first, ...others]) => {
    if (first === undefined) return []
    const all = [first, ...others].flatMap(({ deposits }) => deposits)
    const places = new Map(all.map((one) => [`${one.network}/${one.address}`, one]))
    return [{ ...first, deposits: [...places.values()] }]
  })
}

/** Caught inside `listAll` only. */
class Unlisted extends Error {}

/** The API specification does not mention lists: a service that answers 404 or 405 has none. */
function refusingUnlisted(call: ServiceCall): ServiceCall {
  let isFirst = true
  return async (request) => {
    const answer = await call(request)
    if (isFirst && answer.kind === 'refused' && [404, 405].includes(answer.status)) throw new Unlisted()
    isFirst = false
    return answer
  }
}

function isOfKey(answer: Extract<ServiceAnswer, { kind: 'refused' }>): boolean {
  return answer.status === 401 || answer.status === 403
}

function theirWord({ networks }: OwnersProfile, network: string): string {
  return Object.entries(networks).find(([, ours]) => ours === network)?.[0] ?? network
}

function understood<Value>(request: HttpRequest, read: () => Value): Value {
  try {
    return read()
  } catch (error) {
    throw failure(request, `unexpected answer: ${messageOf(error)}`)
  }
}

type OwnersProfile = Pick<Profile, 'owners' | 'networks'>

function compileOwnerReader(
  { kind, service }: { kind: Owner['kind']; service: ServiceName },
  { owners, networks }: OwnersProfile,
): (value: unknown) => StatedOwner {
  const { record } = kind === 'channel' ? owners.channels : owners.wallets
  const words = new Map(Object.entries(networks))
  const ourWord = (network: string) => words.get(network) ?? network
  const read = {
    id: compileText(record.id),
    network: compileText(record.network),
    address: compileText(record.address),
    forward: kind === 'channel' ? compileForward(owners.channels.record) : () => null,
  }
  const findAddresses =
    record.addresses === null ? (value: unknown) => [value] : compilePath(record.addresses)
  return (value) => {
    const addresses = findAddresses(value, value)
    if (!Array.isArray(addresses) || addresses.length === 0)
      throw new Error(`${record.addresses} is no list of addresses`)
    const forward = read.forward(value)
    return {
      owner: { kind, id: idAmongServices(service, read.id(value)) },
      deposits: addresses.map((one: unknown) => ({
        network: ourWord(read.network(one)),
        address: read.address(one),
      })),
      forward: forward && { ...forward, network: ourWord(forward.network) },
    }
  }
}

function compileForward(record: Profile['owners']['channels']['record']) {
  const network = compileText(record.forwardNetwork)
  const asset = compileText(record.forwardAsset)
  const recipient = compileText(record.forwardRecipient)
  return (value: unknown) => ({ network: network(value), asset: asset(value), recipient: recipient(value) })
}

function compileText(field: Profile['record']['id']): (value: unknown) => string {
  const find = compileRequired(field, '')
  return (value) => {
    try {
      return find({ payload: value, record: value }).text
    } catch (error) {
      throw new Error(`${field.paths[0]} ${messageOf(error)}`, { cause: error })
    }
  }
}
