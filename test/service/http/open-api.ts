import { pino } from 'pino'
import { openDeposits } from '../../../src/service/deposits/deposits.ts'
import { openPrices } from '../../../src/service/deposits/prices.ts'
import { recordWriter } from '../../../src/service/deposits/record.ts'
import { createFaults } from '../../../src/service/faults/faults.ts'
import { startServer } from '../../../src/service/http/server.ts'
import { openKeyring } from '../../../src/service/keyring/keyring.ts'
import { type Owners, openOwners } from '../../../src/service/owners.ts'
import type { DepositServiceSettings } from '../../../src/service/settings.ts'
import type { ServiceDatabase, ServiceTables } from '../../../src/service/tables.ts'
import { openOutbox } from '../../../src/service/webhooks/outbox.ts'
import { openDatabase } from '../../../src/store/database.ts'
import { serviceDatabase } from '../../support/postgres.ts'
import { seed, serviceSettings, unreachableNetworks } from '../fixtures.ts'

export type OpenApi = {
  url: string
  databaseUrl: string
  db: ServiceDatabase
  owners: Owners
  close(): Promise<void>
}

/** The API of the service on a database of its own, without chains. */
export async function openApi(
  changes: Partial<DepositServiceSettings> = {},
  log = pino({ level: 'silent' }),
): Promise<OpenApi> {
  const database = await serviceDatabase()
  const db = openDatabase<ServiceTables>({ url: database.url, poolMax: 10, applicationName: 'test' })
  const settings = serviceSettings(database.url, unreachableNetworks, changes)
  const keyring = openKeyring(seed)
  const [owners, faults] = [openOwners(db, keyring), createFaults(null)]
  const deposits = openDeposits(openOutbox(recordWriter(unreachableNetworks), faults))
  const prices = openPrices(settings.quotes, Date.now)
  const parts = { settings, db, owners, deposits, prices, faults }
  const server = await startServer({ ...parts, log })
  return {
    url: server.url,
    databaseUrl: database.url,
    db,
    owners,
    close: async () => {
      await server.stop()
      await db.destroy()
      await database.drop()
    },
  }
}
