import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Address } from '../../src/core/asset.ts'
import type { ServiceId } from '../../src/core/evidence.ts'
import { saveOwner } from '../../src/store/owners.ts'
import { type Books, openBooks } from './books.ts'
import { arbitrum, base, recipient, txId } from './evidence.ts'
import { madeUpNetworks, settingsEnvironment } from './judging-environment.ts'

export const acmeAddress = '0x00000000000000000000000000000000000000ac' as Address

/** A second service that chose the same ids as the default one: of a deposit and of a channel. */
export const ofAcme = {
  serviceId: 'acme/dep_1' as ServiceId,
  owner: { kind: 'channel', id: 'acme/shop' },
  deposit: { address: acmeAddress, tx: txId('acme pays') },
  settlement: { tx: txId('acme delivers') },
} as const

/** Books whose address book has a channel of each service. */
export async function openBooksOfTwo(): Promise<Books> {
  const books = await openBooks()
  await saveOwner(books.db, {
    owner: ofAcme.owner,
    deposits: [{ network: base, address: acmeAddress }],
    forward: { network: arbitrum, asset: 'USDC', recipient },
  })
  return books
}

/** The environment of commands that know both services; none of these servers is asked. */
export function environmentOfTwo(databaseUrl: string, folder: string): Record<string, string> {
  writeFileSync(join(folder, 'acme.yaml'), '')
  const services = `
services:
  acme:
    url: https://acme.example
    profile: ./acme.yaml
    auth: { header: Authorization, secret: SERVICE_API_ACME_KEY }
    webhooks: { scheme: none }
`
  const environment = settingsEnvironment(databaseUrl, folder, `${madeUpNetworks}${services}`)
  return { ...environment, SERVICE_API_ACME_KEY: 'key of acme' }
}
