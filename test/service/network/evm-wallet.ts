import { type Hex, parseTransaction } from 'viem'
import { type AssetKey, parseAddress } from '../../../src/core/asset.ts'
import { liquidityBranch, openKeyring } from '../../../src/service/keyring/keyring.ts'
import { openEvm } from '../../../src/service/network/evm.ts'
import type {
  NetworkClient,
  SignedTransfer,
  TransferDraft,
  TransferOrder,
} from '../../../src/service/network/port.ts'
import type { Anvil } from '../../support/anvil.ts'
import { networkSettings, seed } from '../fixtures.ts'

export const keyring = openKeyring(seed)
export const native = 'mainnet/native' as AssetKey
export const recipient: Hex = '0x00000000000000000000000000000000000000aa'

/** Seven wei from the liquidity wallet, its fee on top. */
export const payment: TransferOrder = {
  branch: liquidityBranch,
  to: parseAddress('evm', recipient),
  asset: native,
  amount: 7n,
  reference: '',
  feeFrom: 'payer',
}

/** A network that knows nothing of what was signed before; `token` is a contract. */
export function openMainnet(url: string, token?: Hex): NetworkClient {
  const tokens = [
    { symbol: 'ETH', decimals: 18, code: 'native' },
    ...(token === undefined ? [] : [{ symbol: 'USDC', decimals: 18, code: token }]),
  ]
  return openEvm(networkSettings({ name: 'mainnet', family: 'evm', chainId: 1, url, tokens }), keyring)
}

export async function sendSigned(
  network: NetworkClient,
  branch: number,
  draft: TransferDraft,
): Promise<SignedTransfer> {
  const signed = await draft.sign(await network.nextNonce(branch))
  await network.send(signed.bytes)
  return signed
}

/** Mines until the network says that the transfer landed. */
export async function land(
  anvil: Anvil,
  network: NetworkClient,
  { transaction }: SignedTransfer,
): Promise<void> {
  await anvil.mine(3)
  const outcome = await network.outcome({ transaction, expiresHeight: null })
  if (outcome.kind !== 'landed') throw new Error(`${transaction} is ${outcome.kind}`)
}

export function decode({ bytes }: Pick<SignedTransfer, 'bytes'>) {
  const { maxFeePerGas = 0n, gas = 0n, ...rest } = parseTransaction(`0x${Buffer.from(bytes).toString('hex')}`)
  return { ...rest, gas, maxFeePerGas, feeMax: gas * maxFeePerGas }
}
