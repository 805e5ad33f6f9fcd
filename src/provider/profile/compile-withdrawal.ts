import { type Asset, parseAddress, parseTxId } from '../../core/asset.ts'
import { idAmongServices, type ServiceName } from '../../core/evidence.ts'
import { type Amount, formatAmount, parseAmount } from '../../core/money.ts'
import type { WithdrawalClaim } from '../../core/withdrawal-claim.ts'
import { assetFix, formFix, networkFix, spell, unknownWord } from './compile-record.ts'
import { compileAmount, compileTime, compileWordField } from './compile-value.ts'
import {
  compileField,
  compileRequired,
  type FieldReading,
  type RecordContext,
  refuse,
  refuseValue,
} from './find-field.ts'
import { assetBySymbol, knownNetworks, type NetworkAssets, type Vocabulary } from './known-assets.ts'
import type { Profile, WithdrawalsProfile } from './profile-schema.ts'

type WithdrawalContext = {
  profile: Pick<Profile, 'networks'>
  vocabulary: Vocabulary
  service: ServiceName
}

/** @param wallet id of the wallet at the service */
export type WithdrawalParser = (
  place: RecordContext,
  reading: { wallet: string; receivedAt: Date },
) => WithdrawalClaim

/** The recipient receives the asset that has the symbol of the credited one on its network. */
export function compileWithdrawal(
  { record }: WithdrawalsProfile,
  { profile, vocabulary, service }: WithdrawalContext,
): WithdrawalParser {
  const { creditAsset } = vocabulary
  const known = knownNetworks(vocabulary)
  const words = new Map(Object.entries(profile.networks))
  const findId = compileRequired(record.id, '')
  const readStatus = compileWordField(record.status, { prefix: '', unknown: unknownWithdrawalStatus })
  const findNetwork = compileRequired(record.network, '')
  const findRecipient = compileRequired(record.recipient, '')
  const readAmount = compileAmount(record.amount, '')
  const findTx = record.transaction ? compileField(record.transaction, '') : () => null
  const readTime = compileTime(record.occurredAt, '')
  return (place, { wallet, receivedAt }) => {
    const named = findNetwork(place)
    const network =
      known.get(words.get(named.text) ?? named.text) ?? unknownWord(named, 'unknown network', networkFix)
    const { family, name } = network
    const amount =
      readAmount(place, creditAsset.decimals) ??
      refuse(record.amount.paths[0] ?? '', 'is missing', { fix: 'correct owners.wallets.withdrawals.record' })
    const tx = findTx(place)
    return {
      kind: 'withdrawal',
      wallet: idAmongServices(service, wallet),
      withdrawalId: findId(place).text,
      status: readStatus(place),
      asset: creditAsset.key,
      amount,
      network: name,
      to: spell(findRecipient(place), (text) => parseAddress(family, text), `is no address of ${name}`),
      payout: payoutOf(amount, creditAsset, { network, named }),
      tx: tx && spell(tx, (text) => parseTxId(family, text), `is no transaction of ${name}`),
      occurredAt: readTime(place) ?? receivedAt,
      receivedAt,
    }
  }
}

/** The same value in the decimals that the asset has on the network. */
function payoutOf(
  amount: Amount,
  { symbol, decimals: creditDecimals }: Asset,
  { network, named }: { network: NetworkAssets; named: FieldReading },
): WithdrawalClaim['payout'] {
  const found = assetBySymbol(network, symbol)
  if ('problem' in found) return refuse(named.path, found.problem, { value: named.text, fix: assetFix })
  const { key, decimals } = found.asset
  try {
    return { asset: key, amount: parseAmount(formatAmount(amount, creditDecimals), decimals) }
  } catch {
    return refuseValue(named, `cannot represent the amount in ${decimals} decimals`, formFix)
  }
}

function unknownWithdrawalStatus(found: FieldReading): never {
  return unknownWord(
    found,
    'unknown status of a withdrawal',
    'add it to owners.wallets.withdrawals.record.status.words',
  )
}
