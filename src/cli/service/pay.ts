import { type Address, type Asset, parseAddress } from '../../core/asset.ts'
import { assert, Fault, isFault } from '../../core/errors.ts'
import { type Amount, formatAmount, parseAmount } from '../../core/money.ts'
import { isAddressOn, openNetwork, type SandboxNetwork } from '../../sandbox/local-networks.ts'
import type { ServicePlace } from '../../sandbox/service-files.ts'
import { describeError } from '../../service/running/requests.ts'
import type { Context } from '../context.ts'
import { choiceOf, wrongUse } from '../options.ts'
import { print } from '../print.ts'
import { depositAddress, runningPlace } from './running-service.ts'

type NetworkAssetOptions = { network: string; asset: string }
type PayOptions = NetworkAssetOptions & { amount: string; to: string }
type BalanceOptions = NetworkAssetOptions & { address: string }

/** The transaction alone goes to standard output, for use in a shell. */
export async function payCommand(context: Context, options: PayOptions): Promise<void> {
  const { place, network, asset } = await openPlace(options)
  const amount = amountOf(asset, options.amount)
  const payee = await payeeOf(place, network, options.to)
  const to = parseAddress(network.family, payee)
  const what = `${options.amount} ${asset.symbol} on ${network.name} to ${payee}`
  await refuseBeyondFaucet(network, asset, amount)
  const transaction = await network.pay({ asset: asset.key, to, amount }).catch(refused(`paying ${what}`))
  context.stderr.write(`sent ${what}\n`)
  const block = await network.landed(transaction).catch(refused(`paying ${what}`))
  context.stderr.write(`in ${network.family === 'evm' ? 'block' : 'slot'} ${block}; final soon\n`)
  const paid = { amount: formatAmount(amount, asset.decimals), amountBase: amount, to: payee }
  print(context, { ...named(network, asset), ...paid, transaction, block }, `${transaction}\n`)
}

async function refuseBeyondFaucet(
  { name, payer, balance }: SandboxNetwork,
  { key, symbol, decimals }: Asset,
  amount: Amount,
): Promise<void> {
  const held = await balance(payer, key).catch(refused(`reading ${name}`))
  if (amount <= held) return
  const fix = `use at most ${formatAmount(held, decimals)} ${symbol}`
  throw wrongUse(`--amount exceeds the faucet on ${name}`, fix)
}

/** In whole units. */
export async function balanceCommand(context: Context, options: BalanceOptions): Promise<void> {
  const { network, asset } = await openPlace(options)
  const address = addressOf(network, options.address)
  const units = await network.balance(address, asset.key).catch(refused(`reading ${network.name}`))
  const balance = formatAmount(units, asset.decimals)
  const document = { ...named(network, asset), address: options.address, balance, balanceBase: units }
  print(context, document, `${balance}\n`)
}

function named({ name }: SandboxNetwork, { symbol, key }: Asset) {
  return { network: name, assetSymbol: symbol, asset: key }
}

type SandboxAsset = { place: ServicePlace; network: SandboxNetwork; asset: Asset }

async function openPlace({ network: name, asset: symbol }: NetworkAssetOptions): Promise<SandboxAsset> {
  const place = runningPlace()
  const names = place.networks.map((one) => one.name)
  const found = choiceOf('--network', name, names)
  const url = place.networks.find((one) => one.name === found)?.url ?? ''
  const network = await openNetwork(found, url).catch(refused(`reaching ${found}`))
  const symbols = network.assets.map((one) => one.symbol)
  const wanted = choiceOf('--asset', symbol, symbols)
  const asset = network.assets.find((one) => one.symbol === wanted)
  assert(asset !== undefined, 'a symbol of the list has its asset')
  return { place, network, asset }
}

/** The given address, or the deposit address of the owner with that id. */
async function payeeOf(place: ServicePlace, network: SandboxNetwork, text: string): Promise<string> {
  if (isAddressOn(network, text)) return text
  const what = 'asking the service for a deposit address'
  const address = await depositAddress(place, network.name, text).catch(refused(what))
  if (address !== null) return address
  const problem = `--to is neither an address on ${network.name} nor an id: ${JSON.stringify(text)}`
  throw wrongUse(problem, `give ${formOf(network)}, or the id of a channel or StableWallet`)
}

function addressOf(network: SandboxNetwork, text: string): Address {
  if (isAddressOn(network, text)) return parseAddress(network.family, text)
  const problem = `--address is not an address on ${network.name}: ${JSON.stringify(text)}`
  throw wrongUse(problem, `give ${formOf(network)}`)
}

function formOf({ family }: SandboxNetwork): string {
  return family === 'evm' ? '0x and 40 hexadecimal digits' : 'a base58 address of 32 bytes'
}

function amountOf({ symbol, decimals }: Asset, text: string): Amount {
  try {
    const amount = parseAmount(text, decimals)
    if (amount > 0n) return amount
  } catch (error) {
    if (!isFault(error, 'amount_malformed')) throw error
  }
  const fix = `use a decimal number above 0 with at most ${decimals} decimals, like 12.5`
  throw wrongUse(`--amount is not an amount of ${symbol}: ${JSON.stringify(text)}`, fix)
}

function refused(what: string): (error: unknown) => never {
  return (error) => {
    if (error instanceof Fault) throw error
    throw new Fault('remote_failed', { what, problem: describeError(error) }, { cause: error })
  }
}
