import { setTimeout as sleep } from 'node:timers/promises'
import {
  codeOf,
  newDevice,
  type SignedIn,
  type SignInDeps,
  signedIn,
  signOut,
} from '../../jobs/people/sign-in.ts'
import { type Context, withDatabase } from '../context.ts'
import { wrongUse } from '../options.ts'
import { print } from '../print.ts'
import { readSavedToken, removeSavedToken, saveToken } from './saved-session.ts'
import { consoleOrigin, pinnedKey } from './signing.ts'

const [waitMaxMs, pauseMs] = [15 * 60_000, 500]

/** A person who is signed in to the console allows this command line to work as them. */
export async function loginCommand(context: Context): Promise<void> {
  const { token, device } = newDevice()
  const origin = consoleOrigin(context)
  context.stderr.write(
    `open this in a browser, and allow it if it shows the code ${codeOf(device)}:\n${origin}/login/${device}\n`,
  )
  const { person, roles } = await withDatabase(context, (db) =>
    grantedBy({ db, pinned: pinnedKey(context), origin }, token),
  )
  const file = saveToken(context.environment, token)
  print(context, { person, roles, file }, `logged in as ${person}, for 12 hours\n`)
}

async function grantedBy(deps: SignInDeps, token: string): Promise<SignedIn> {
  for (const until = Date.now() + waitMaxMs; Date.now() < until; await sleep(pauseMs)) {
    const person = await signedIn(deps, token)
    if (person !== null) return person
  }
  throw wrongUse('the login was not allowed within 15 minutes', 'try again')
}

export async function logoutCommand(context: Context): Promise<void> {
  const token = readSavedToken(context.environment)
  if (token === null) throw wrongUse('this command line is not logged in', 'use "bin/depositd login"')
  await withDatabase(context, (db) => signOut({ db }, token))
  removeSavedToken(context.environment)
  print(context, { loggedOut: true }, 'logged out\n')
}
