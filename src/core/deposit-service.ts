import type { Brand } from './brand.ts'

/** The name of a deposit service. An id that a service chooses is unique only together with it. */
export type ServiceName = Brand<string, 'ServiceName'>

/** The one deposit service that the settings name; the default of every column `service`. */
export const defaultService = 'default' as ServiceName
