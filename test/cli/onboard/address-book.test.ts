import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { proposeAddressBook } from '../../../src/cli/onboard/address-book.ts'
import type { Session } from '../../../src/cli/onboard/session.ts'
import { parseSettings } from '../../../src/config/settings.ts'
import { loadProfile } from '../../../src/provider/profile/parse-profile.ts'
import { startRawService } from '../../support/raw-service.ts'

test.each([
  ['an address', { addresses: [{ network: 'mars', address: '0x1' }], forward_network: 'base' }],
  ['a recipient', { addresses: [{ network: 'base', address: '0x1' }], forward_network: 'mars' }],
])('%s on a network that is not in the settings is refused, with what to do', async (_what, channel) => {
  const stated = { id: 'c', forward_asset_symbol: 'USDC', forward_recipient: '0x2', ...channel }
  await using list = await startRawService((_request, response) =>
    response.end(JSON.stringify({ data: [stated] })),
  )
  const environment = {
    DATABASE_URL: 'postgres://nobody@127.0.0.1:9/none',
    SERVICE_URL: list.url,
    SERVICE_API_KEY: 'key',
    WEBHOOK_SECRETS: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    RPC_BASE: 'https://base.example',
  }
  const settings = parseSettings(environment, (path) => readFileSync(path, 'utf8'))
  const [service] = settings.services
  const session: Partial<Session> = {
    name: service.name,
    settingsPath: '/settings/depositd.yaml',
    service: () => ({ settings, service }),
  }
  type Draft = Parameters<typeof proposeAddressBook>[1]
  const of: Partial<Draft> = { profile: loadProfile('profiles/depositd.yaml') }
  await expect(proposeAddressBook(session as Session, of as Draft)).rejects.toMatchObject({
    message: expect.stringContaining(
      'channels are on networks that are not in the settings: mars',
    ) as unknown,
    details: { fix: expect.stringContaining('section networks of /settings/default.yaml') as unknown },
  })
})
