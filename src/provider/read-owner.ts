import type { StatedOwner } from '../core/address-book.ts'
import { messageOf } from '../core/errors.ts'
import type { Owner } from '../core/evidence.ts'
import { compileRequired } from './profile/find-field.ts'
import { compilePath } from './profile/path.ts'
import type { Profile } from './profile/profile-schema.ts'

export type OwnersProfile = Pick<Profile, 'owners' | 'networks'>

/** Makes what reads one channel or wallet from an answer; it throws where a field is not there. */
export function compileOwnerReader(
  kind: Owner['kind'],
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
  const findAddresses = compilePath(record.addresses)
  return (value) => {
    const addresses = findAddresses(value, value)
    if (!Array.isArray(addresses) || addresses.length === 0)
      throw new Error(`${record.addresses} is no list of addresses`)
    const forward = read.forward(value)
    return {
      owner: { kind, id: read.id(value) },
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
