import type { DepositService } from '../service/service.ts'
import { type SandboxServiceSettings, startSandboxService } from './sandbox-service.ts'

export type DemoServiceSettings = Omit<SandboxServiceSettings, 'webhooks' | 'faults'> & {
  /** Where its webhooks go. */
  webhookUrl: string
}

/** Errors the demonstration's service makes, as shares of the deposits, so that there are mismatches to see. */
const faults = { seed: 'demonstration', dropWebhookRate: 0.08, shortForwardRate: 0.08 }

/** Starts the deposit service of the demonstration. */
export function startDemoService({ webhookUrl, ...settings }: DemoServiceSettings): Promise<DepositService> {
  const webhooks = [{ url: webhookUrl, secret: settings.secrets.webhookSecret }]
  return startSandboxService({ ...settings, webhooks, faults })
}
