import type { NetworkSettings } from '../../core/asset.ts'
import { type HttpRoute, routeDefiner } from '../../http/route.ts'
import type { SecretVault } from '../../outbox/secret-vault.ts'
import type { Deposits } from '../deposits/deposits.ts'
import type { Prices } from '../deposits/prices.ts'
import type { Faults } from '../faults/faults.ts'
import type { Owners } from '../owners.ts'
import type { ApiScope, ServiceDatabase } from '../tables.ts'
import type { ProblemCode } from './problem.ts'

export type Api = {
  db: ServiceDatabase
  owners: Owners
  deposits: Deposits
  prices: Prices
  networks: readonly NetworkSettings[]
  faults: Faults
  webhooks: { vault: SecretVault; allowPrivate: boolean }
}

export type ServiceApi = { api: Api; scope: ApiScope; problem: ProblemCode }

export type ApiRoute = HttpRoute<ServiceApi>

export const ofPage = 'Defined by the interface page.'
/** Fills a gap of the interface page. */
export const ours = 'An addition of this service; the interface page does not define it.'

export const defineRoute = routeDefiner<ServiceApi>()
