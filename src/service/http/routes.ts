import { channelRoutes } from './channel-routes.ts'
import { depositRoutes } from './deposit-routes.ts'
import type { Route } from './route.ts'
import { stableWalletRoutes } from './stable-wallet-routes.ts'

/** Every call, in the order of the documents. */
export const routes: readonly Route[] = [...channelRoutes, ...stableWalletRoutes, ...depositRoutes]
