import type { Address, AssetKey } from '../../src/core/asset.ts'
import type { ServiceId } from '../../src/core/evidence.ts'
import type { Amount } from '../../src/core/money.ts'
import type { FeeModel } from '../../src/core/policy.ts'
import { decision } from './decision.ts'
import type { DecisionCase } from './decision-cases.ts'
import {
  arbitrum,
  at,
  base,
  claim,
  credit,
  delivery,
  elsewhere,
  payment,
  policy,
  txId,
  usdcOnBase,
  usdtOnBase,
  walletAddress,
  walletApproval,
  webhook,
} from './evidence.ts'

/** Deliveries to several deposits, in several assets and to several places; fees, tolerance, and credits to a wallet. */

const both = (changes: Parameters<typeof claim>[0] = {}) => [claim(changes), webhook(changes)]
/** What another deposit of the same delivery states. */
const other = (settlement: object) =>
  both({ serviceId: 'dep_2' as ServiceId, deposit: { tx: txId('pay2') }, settlement })
const inEth = delivery({ asset: 'arbitrum/native' as AssetKey, amount: 7n as Amount, index: 'native' })
const later = { ...inEth, tx: txId('forward2') }
const part = delivery({ amount: 50_000_000n as Amount })
const settling = { status: 'settling' } as const
const onBase = delivery({ network: base, tx: txId('forward2'), asset: usdcOnBase })
const ethOnBase = { ...onBase, asset: 'base/native' as AssetKey, amount: 7n as Amount, index: 'native' }
const tolerated = (amount: bigint) => ({
  policy: { ...policy, tolerance: { amount: amount as Amount, bps: 0 } },
})

const toWallet = {
  owner: walletApproval.owner,
  deposit: { address: walletAddress },
  settlement: { network: 'stable-wallet', address: 'savings' as Address, asset: credit, tx: null },
} as NonNullable<Parameters<typeof claim>[0]>
const toWalletBut = (changes: object) => ({ ...toWallet, settlement: { ...toWallet.settlement, ...changes } })
const credited = (changes: object) => both(toWalletBut(changes))
const toTheWallet = payment({ to: walletAddress })

const six = { paid: 10n ** 6n, delivered: 10n ** 6n }
const by = (fee: FeeModel) => ({ policy: { ...policy, fee } })
const tenBps = by({ kind: 'bps', bps: 10, units: six })
const unstated = { tx: null, amount: null, fee: null }
/** A payment, and a delivery of `amount` of which nobody states the fee. */
const withoutFee = (amount: bigint, paid = 100_000_000n) => {
  const changes = {
    deposit: { amount: paid as Amount },
    settlement: { amount: amount as Amount, fee: null },
  }
  const sent = delivery({ amount: amount as Amount })
  return [payment({ amount: paid as Amount }), sent, claim(changes), webhook(changes)]
}

export const deliveryCases: Record<string, DecisionCase> = {
  'a delivery in two assets, of which a person matches one': {
    evidence: [payment(), delivery(), webhook(), later, decision('together', later)],
  },
  'a delivery in two assets, within the tolerance': {
    evidence: [payment(), delivery(), claim(), later, decision('together', later)],
    by: tolerated(7n),
  },
  'a route by what the chain and the address book show': {
    evidence: [
      payment(),
      inEth,
      ...both({ owner: null, deposit: { asset: usdtOnBase }, settlement: { network: base } }),
    ],
    by: {
      routes: [
        {
          pattern: {
            ownerKind: 'channel',
            ownerId: 'shop',
            networkIn: base,
            networkOut: arbitrum,
            assetIn: usdcOnBase,
            assetOut: inEth.asset,
          },
          policy: { ...policy, line: 'policy.routes[0]' },
        },
      ],
    },
  },
  'a delivery that an earlier record placed elsewhere': {
    evidence: [
      payment(),
      delivery(),
      claim({ ...settling, occurredAt: at(2), settlement: { address: elsewhere } }),
      claim(),
    ],
  },
  'two deliveries, of which only a webhook states the amount of one': {
    evidence: [payment(), part, delivery({ index: '1' }), claim({ settlement: { amount: null } }), webhook()],
  },
  'two deliveries, of which a person matches one': {
    evidence: [
      payment(),
      part,
      delivery({ index: '1', amount: 60_000_000n as Amount }),
      ...both(),
      decision('together', delivery({ index: '1' })),
    ],
  },
  'a delivery in another asset, before the end': {
    evidence: [
      payment(),
      delivery({ asset: 'arbitrum/native' as AssetKey }),
      ...both({ status: 'settling' }),
    ],
  },
  'a delivery of the part that a webhook states': {
    evidence: [
      payment(),
      part,
      claim(settling),
      webhook({ ...settling, settlement: { amount: part.amount } }),
    ],
  },
  'a delivery of the part that the API states': {
    evidence: [
      payment(),
      part,
      claim({ ...settling, settlement: { amount: part.amount } }),
      webhook(settling),
    ],
  },
  'no delivery, within the tolerance': { evidence: [payment(), ...both()], by: tolerated(99_900_000n) },
  'a delivery in another asset, whose block is gone': {
    evidence: [payment(), { ...inEth, stage: 'orphaned' }, ...both()],
  },
  'a delivery in another asset, stated at an address that is not approved': {
    evidence: [payment(), inEth, ...both({ settlement: { address: elsewhere } })],
  },
  'a delivery of a part to an address that is not approved': {
    evidence: [payment(), delivery({ to: elsewhere, amount: 50_000_000n as Amount }), ...both()],
  },
  'a delivery on another network, whose block is gone': {
    evidence: [payment(), { ...onBase, tx: txId('forward'), stage: 'orphaned' }, ...both()],
  },
  'deliveries on two networks, of which a person matches those on one': {
    evidence: [
      payment(),
      delivery(),
      ...both(),
      onBase,
      ethOnBase,
      decision('together', onBase),
      decision('together', ethOnBase),
    ],
  },
  'a delivery that is not what two deposits state': {
    evidence: [payment(), ...both(), ...other({}), delivery({ amount: 100_000_000n as Amount })],
  },
  'a delivery to two deposits, of which one states no amount': {
    evidence: [...both(), ...other({ amount: null }), delivery({ amount: 50_000_000n as Amount })],
  },
  'deliveries in two assets to two deposits': {
    evidence: [
      ...both(),
      ...other({}),
      { ...inEth, amount: 100_000_000n as Amount },
      delivery({ asset: 'arbitrum/other' as AssetKey, amount: 99_800_000n as Amount, index: '1' }),
    ],
  },
  'a share of a payment that no chain shows': { evidence: withoutFee(99_900_000n).slice(2), by: tenBps },
  'a share of a delivery that is not stated yet': {
    evidence: [payment(), claim({ status: 'settling', settlement: unstated })],
    by: tenBps,
  },
  'a share of a payment of zero': { evidence: withoutFee(99_900_000n, 0n), by: tenBps },
  'a share of which nothing is kept': { evidence: withoutFee(100_000_000n), by: tenBps },
  'a share of zero': {
    evidence: withoutFee(100_000_000n),
    by: by({ kind: 'bps', bps: 0, units: six }),
  },
  'a share of a payment, of which more is delivered': { evidence: withoutFee(100_123_000n), by: tenBps },
  'a share of a payment with more decimals, which is not whole': {
    evidence: withoutFee(99_900_000n, 100_000_000_999_999_999_999n),
    by: by({ kind: 'bps', bps: 10, units: { paid: 10n ** 18n, delivered: 10n ** 6n } }),
  },
  'a fee that only an earlier record states': {
    evidence: [
      payment(),
      claim({ status: 'settling', occurredAt: at(2) }),
      claim({ settlement: { fee: null } }),
    ],
  },
  'a fee that a record states without the amount': {
    evidence: [
      payment(),
      claim({ status: 'settling', settlement: { amount: null }, occurredAt: at(2) }),
      claim({ settlement: { fee: null } }),
      claim({ status: 'refunded', settlement: unstated, occurredAt: at(9) }),
    ],
  },
  'a delivery that lacks a cent, which is tolerated only at the end': {
    evidence: [payment(), delivery({ amount: 99_890_000n as Amount }), claim({ status: 'settling' })],
    by: tolerated(10_000n),
  },
  'a credit to the wallet': { evidence: [toTheWallet, ...credited({})] },
  'a credit that lacks 5 USDC': { evidence: [toTheWallet, ...credited({ amount: 94_900_000n as Amount })] },
  'a credit to another wallet': { evidence: [toTheWallet, ...credited({ address: 'other' })] },
  'a credit that only a webhook reports': { evidence: [toTheWallet, webhook(toWallet)] },
  'a credit of which a webhook is behind': {
    evidence: [toTheWallet, claim(toWallet), webhook({ ...toWallet, status: 'settling' })],
  },
  'a credit of which a webhook states another amount': {
    evidence: [toTheWallet, claim(toWallet), webhook(toWalletBut({ amount: 90_000_000n as Amount }))],
  },
  'a credit of which a webhook states another asset': {
    evidence: [toTheWallet, claim(toWallet), webhook(toWalletBut({ asset: usdcOnBase }))],
  },
  'a credit that only the webhook states': {
    evidence: [toTheWallet, { ...claim(toWallet), settlement: null }, webhook(toWallet)],
  },
  'a credit that is refunded': {
    evidence: [toTheWallet, claim(toWallet), claim({ ...toWallet, status: 'refunded', occurredAt: at(9) })],
  },
  'a credit of an unknown amount': { evidence: [toTheWallet, ...credited({ amount: null })] },
  'a credit that is not reported': {
    evidence: [toTheWallet, ...both({ ...toWallet, status: 'confirmed', settlement: unstated })],
  },
}
