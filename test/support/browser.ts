import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { isInstalled } from './programs-needed.ts'

/** Debian's package `chromium-headless-shell`: the same engine without what windows need. */
const executablePath = '/usr/bin/chromium-headless-shell'

export const browserInstalled = (): boolean => isInstalled('chromium-headless-shell')

export function openBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
}

export type Visitor = AsyncDisposable & {
  page: Page
  context: BrowserContext
  faults: string[]
}

/** A person at their own browser, with a device that holds passkeys and confirms every use. */
export async function openVisitor(browser: Browser, timezoneId = 'UTC'): Promise<Visitor> {
  const context = await browser.newContext({ timezoneId })
  const page = await context.newPage()
  const faults = listenToFaults(page)
  const session = await context.newCDPSession(page)
  await session.send('WebAuthn.enable')
  await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  return { page, context, faults, [Symbol.asyncDispose]: () => context.close() }
}

/** Errors of scripts, and what the policy of the pages refused. */
export function listenToFaults(page: Page): string[] {
  const faults: string[] = []
  page.on('pageerror', ({ message }) => void faults.push(message))
  page.on('console', (message) => void (message.type() === 'error' && faults.push(message.text())))
  return faults
}
