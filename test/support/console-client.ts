import { openSession } from '../../src/jobs/people/sign-in.ts'
import { formTokenOf, sessionCookie } from '../../src/ops/console/forms.ts'
import type { PersonRole } from '../../src/people/roles.ts'
import type { Books } from './books.ts'

/** Requests to a console without a browser. */
export function consoleClient(url: string, { owner }: Pick<Books, 'owner'>) {
  return {
    /** Signed in as the provider of OpenID Connect does it. @returns the headers of their requests */
    signedIn: async (person: string, ...roles: PersonRole[]): Promise<Record<string, string>> => {
      const token = await openSession(owner, { person, roles, by: 'a provider' })
      return { cookie: `${sessionCookie}=${token}` }
    },
    got: async (path: string, headers: Record<string, string> = {}) =>
      answerOf(await fetch(url + path, { headers: { accept: 'text/plain', ...headers } })),
    /** A form of a page that this browser opened. */
    sent: async (path: string, headers: Record<string, string>, fields: Record<string, string> = {}) => {
      const token = headers.cookie?.split('=')[1] ?? ''
      const body = new URLSearchParams({ form: formTokenOf(token), ...fields })
      return answerOf(
        await fetch(url + path, { method: 'POST', headers: { accept: 'text/html', ...headers }, body }),
      )
    },
  }
}

export type ConsoleClient = ReturnType<typeof consoleClient>

async function answerOf(response: Response) {
  const body = Buffer.from(await response.arrayBuffer())
  return { status: response.status, headers: response.headers, body, text: body.toString() }
}
