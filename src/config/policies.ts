import { z } from 'zod'
import {
  type Asset,
  type AssetLabel,
  assetNetwork,
  type Family,
  type NetworkName,
  type NetworkSettings,
} from '../core/asset.ts'
import { type ServiceName, serviceOf, stableWalletNetwork } from '../core/evidence.ts'
import { type Amount, parseAmount } from '../core/money.ts'
import {
  type FeeModel,
  noStart,
  type Policy,
  plainPolicy,
  type RoutePattern,
  type RoutePolicy,
  type ServiceStart,
} from '../core/policy.ts'
import { addressOf } from './network-schema.ts'
import { type PolicyFields, type PolicySection, policySection, type RouteMatch } from './policy-schema.ts'
import { parseYaml, type Refuse, refuseAt, refuseIn } from './yaml-file.ts'

export type AssetCatalog = {
  services: readonly { name: string; start?: ServiceStart }[]
  networks: readonly { name: string; family: Family }[]
  /** Without decimals if they are read from the chain. */
  assets: readonly (AssetLabel & Partial<Asset>)[]
}

export type ConfiguredPolicies = { policy: Policy; routes: RoutePolicy[] }

/** If it refuses anything, the result is unusable. */
export function readPolicies(
  section: PolicySection,
  world: AssetCatalog,
  refuse: Refuse,
): ConfiguredPolicies {
  const general = { ...plainPolicy, ...policyOf(section, { refuse }) } as Policy
  const routes = section.routes.map((route, place): RoutePolicy => {
    const refuseInRoute = refuseAt(refuse, 'routes', place)
    const scope = { ...assetsOfMatch(route.match, world, refuseInRoute), refuse: refuseInRoute }
    const line = `policy.routes[${place}]`
    return {
      pattern: patternOf(route.match, scope, world),
      policy: { ...general, ...policyOf(route, scope), line },
    }
  })
  for (const [place, { pattern }] of routes.entries()) {
    const covering = routes.slice(0, place).findIndex((earlier) => covers(earlier.pattern, pattern))
    if (covering !== -1)
      refuse(['routes', place, 'match'], `is never reached: policy.routes[${covering}] fits all of it`)
  }
  return { policy: general, routes: routesWithStarts(routes, general, world) }
}

/** The start of a service belongs to each policy that may decide its deposits. */
function routesWithStarts(
  routes: readonly RoutePolicy[],
  general: Policy,
  { services }: AssetCatalog,
): RoutePolicy[] {
  const started = services.flatMap(({ name, start = noStart }) =>
    start.historySinceMs === null && start.webhooksSinceMs === null
      ? []
      : [{ service: name as ServiceName, start }],
  )
  const all = [...routes, { pattern: {}, policy: general }].flatMap((route): RoutePolicy[] => [
    ...started
      .filter(({ service }) => [undefined, service].includes(route.pattern.service))
      .map(({ service, start }) => ({
        pattern: { ...route.pattern, service },
        policy: { ...route.policy, ...start },
      })),
    route,
  ])
  return all.slice(0, -1)
}

type CatalogAsset = AssetCatalog['assets'][number]
type PolicyScope = { assetIn?: CatalogAsset | undefined; assetOut?: CatalogAsset | undefined; refuse: Refuse }

function policyOf(fields: PolicyFields, scope: PolicyScope): Partial<Policy> {
  const { tolerance, fee, minimum } = fields
  const policy = {
    webhookWithinMs: fields.webhookWithin,
    webhookStatuses: fields.webhookStatuses,
    apiWithinMs: fields.apiWithin,
    chainWithinMs: fields.chainWithin,
    reportWithinMs: fields.reportWithin,
    settlementWithinMs: fields.settlementWithin,
    tolerance: tolerance && {
      amount: amountOut(tolerance.amount ?? '0', ['tolerance', 'amount'], scope),
      bps: tolerance.bps,
    },
    fee: fee && feeModelOf(fee, scope),
    required: fields.required,
    creditRequires: fields.creditRequires,
    minimum: minimum && amountOf(minimum, ['minimum'], { asset: scope.assetIn, side: 'in', ...scope }),
    supported: fields.supported,
    stuckAfterMs: fields.stuckAfter,
    clockSkewMs: fields.clockSkew,
    refundWithinMs: fields.refundWithin,
    acceptsUnnamed: fields.acceptsUnnamed,
  }
  return Object.fromEntries(Object.entries(policy).filter(([, value]) => value !== undefined))
}

function feeModelOf(fee: NonNullable<PolicyFields['fee']>, scope: PolicyScope): FeeModel {
  if (fee.model === 'stated') return { kind: 'stated' }
  if (fee.model === 'fixed') return { kind: 'fixed', amount: amountOut(fee.amount, ['fee', 'amount'], scope) }
  const units = unitsOf(scope)
  if (fee.model === 'bps') return { kind: 'bps', bps: fee.bps, units }
  const { lowBps, highBps, sample } = fee
  return { kind: 'band', lowBps, highBps, sample, units }
}

/** A share of the amount paid implies an amount delivered only if both assets and their decimals are known. */
function unitsOf({ assetIn, assetOut, refuse }: PolicyScope) {
  if (!assetIn || !assetOut) {
    refuse(
      ['fee'],
      'compares what is paid with what is delivered: give it in a route whose match names asset.in and asset.out',
    )
  } else if (assetIn.decimals === undefined || assetOut.decimals === undefined) {
    refuse(
      ['fee'],
      `needs the decimals of both assets: ${askForDecimals(assetIn.decimals === undefined ? assetIn : assetOut)}`,
    )
  }
  return { paid: 10n ** BigInt(assetIn?.decimals ?? 0), delivered: 10n ** BigInt(assetOut?.decimals ?? 0) }
}

function amountOut(text: string, path: string[], scope: PolicyScope): Amount {
  return /^0+$/.test(text)
    ? (0n as Amount)
    : amountOf(text, path, { asset: scope.assetOut, side: 'out', ...scope })
}

type AmountScope = { asset: CatalogAsset | undefined; side: 'in' | 'out'; refuse: Refuse }

/** In units of the asset that the route names, without rounding. */
function amountOf(text: string, path: string[], { asset, side, refuse }: AmountScope): Amount {
  const none = 0n as Amount
  if (asset === undefined) {
    refuse(path, `is in units of an asset: give it in a route whose match names asset.${side}`)
    return none
  }
  if (asset.decimals === undefined) {
    refuse(path, `needs decimals: ${askForDecimals(asset)}`)
    return none
  }
  try {
    return parseAmount(text, asset.decimals)
  } catch {
    refuse(path, `is "${text}", and ${asset.symbol} on ${asset.network} has ${asset.decimals} decimals`)
    return none
  }
}

function askForDecimals({ symbol, network }: CatalogAsset): string {
  return `write those of ${symbol} on ${network} into networks[].assets[].decimals`
}

export function patternOfMatch(match: RouteMatch, world: AssetCatalog, refuse: Refuse): RoutePattern {
  return patternOf(match, { ...assetsOfMatch(match, world, refuse), refuse }, world)
}

function patternOf(match: RouteMatch, scope: PolicyScope, catalog: AssetCatalog): RoutePattern {
  checkMatch(match, scope, catalog)
  const { service, owner, network } = match
  return {
    service: service as ServiceName | undefined,
    ownerKind: owner.kind,
    ownerId: owner.id,
    networkIn: network.in as NetworkName | undefined,
    networkOut: network.out as NetworkName | undefined,
    assetIn: scope.assetIn?.key,
    assetOut: scope.assetOut?.key,
  }
}

function checkMatch(match: RouteMatch, scope: PolicyScope, { services, networks }: AssetCatalog): void {
  const { service, owner, network, asset } = match
  const names = services.map(({ name }) => name)
  if (service !== undefined && !names.includes(service))
    scope.refuse(['match', 'service'], `must be a service of the settings: ${names.join(', ')}`)
  checkNetworks(match, scope, networks)
  if (service === undefined && Object.values({ ...owner, ...network, ...asset }).length === 0)
    scope.refuse(['match'], 'is empty: settings for all routes belong directly into policy')
}

function checkNetworks(
  { network }: RouteMatch,
  { assetIn, assetOut, refuse }: PolicyScope,
  networks: AssetCatalog['networks'],
): void {
  const names = networks.map(({ name }) => name)
  const known = { in: names, out: [...names, stableWalletNetwork as string] }
  for (const side of ['in', 'out'] as const) {
    const name = network[side]
    const asset = side === 'in' ? assetIn : assetOut
    if (name === undefined) continue
    if (!known[side].includes(name))
      refuse(['match', 'network', side], `must be a network of the settings: ${known[side].join(', ')}`)
    else if (asset !== undefined && asset.network !== name)
      refuse(['match', 'asset', side], `is not on the network ${name} that the match names`)
  }
}

function assetsOfMatch({ asset }: RouteMatch, world: AssetCatalog, refuse: Refuse) {
  const find = (side: 'in' | 'out'): CatalogAsset | undefined => {
    const name = asset[side]
    if (name === undefined) return undefined
    const found = assetsNamed(name, world)
    const problem =
      found.length === 0
        ? 'must be an asset of the settings: network/SYMBOL, network/contract or network/native'
        : 'is the symbol of several assets: write the contract in its place'
    if (found.length !== 1) refuse(['match', 'asset', side], problem)
    return found[0]
  }
  return { assetIn: find('in'), assetOut: find('out') }
}

/** The caller rejects a symbol with several assets. */
function assetsNamed(name: string, { networks, assets }: AssetCatalog): CatalogAsset[] {
  const [network = '', code = ''] = name.split('/')
  const family = networks.find((one) => one.name === network)?.family
  const address = family === undefined ? null : addressOf(family, code)
  const ofNetwork = assets.filter((asset) => asset.network === network)
  const exact = ofNetwork.filter(({ key }) => key === `${network}/${address ?? code}`)
  return exact.length > 0 ? exact : ofNetwork.filter(({ symbol }) => symbol === code)
}

export function covers(earlier: RoutePattern, later: RoutePattern): boolean {
  const { ownerId, assetIn, assetOut } = later
  const implied: RoutePattern = {
    ...(ownerId && { service: serviceOf(ownerId) }),
    ...(assetIn && { networkIn: assetNetwork(assetIn) }),
    ...(assetOut && { networkOut: assetNetwork(assetOut) }),
  }
  return Object.entries(earlier).every(([name, value]) => {
    const key = name as keyof RoutePattern
    return value === undefined || value === (later[key] ?? implied[key])
  })
}

export function parsePolicyFile(
  text: string,
  {
    services,
    networks,
    creditAsset,
  }: Pick<AssetCatalog, 'services'> & { networks: readonly NetworkSettings[]; creditAsset: Asset },
): { policies: ConfiguredPolicies | null; faults: string[] } {
  const assets = networks.flatMap(({ assets: pinned, unpinned = [] }) => [...pinned, ...unpinned])
  const world = { services, networks, assets: [...assets, creditAsset] }
  const schema = z
    .strictObject({ policy: requiredSection.pipe(policySection) })
    .transform(({ policy }, context) => readPolicies(policy, world, refuseIn(context, 'policy')))
  const { file, faults } = parseYaml(schema, text)
  return { policies: file, faults }
}

/** A file without the section would otherwise be the policy of an empty section, which is never intended. */
const requiredSection = z.unknown().superRefine((section, context) => {
  if (section === undefined) context.addIssue('is missing')
})
