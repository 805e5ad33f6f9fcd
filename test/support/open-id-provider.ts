import { fork } from 'node:child_process'
import { once } from 'node:events'
import { Provider } from 'oidc-provider'

/** A provider of OpenID Connect in a process of its own. Whoever types a name is that person. */

const [port = '', console = ''] = process.argv.slice(2)
if (process.send !== undefined && port !== '') {
  const provider = new Provider(`http://127.0.0.1:${port}`, {
    clients: [
      {
        client_id: 'depositd',
        client_secret: 'a secret of the test',
        redirect_uris: [`${console}/sign-in/open-id/callback`],
      },
    ],
    claims: { openid: ['sub'], profile: ['preferred_username', 'groups'] },
    findAccount: (_context, id) => ({
      accountId: id,
      claims: () => ({ sub: id, preferred_username: id, groups: id === 'sid' ? ['sales'] : ['finance'] }),
    }),
  })
  provider.listen(Number(port), '127.0.0.1', () => process.send?.('ready'))
}

export type OpenIdProcess = AsyncDisposable & { issuer: string }

/** @param console address to which people come back */
export async function startOpenIdProvider(ofPort: number, address: string): Promise<OpenIdProcess> {
  const child = fork(import.meta.filename, [String(ofPort), address], { stdio: 'ignore' })
  await once(child, 'message')
  return {
    issuer: `http://127.0.0.1:${ofPort}`,
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit')
      child.kill()
      await ended
    },
  }
}
