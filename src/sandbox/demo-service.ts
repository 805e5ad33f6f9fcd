import type { DepositService } from '../service/service.ts'
import { type SandboxServiceSettings, startSandboxService } from './sandbox-service.ts'

export type DemoServiceSettings = Omit<SandboxServiceSettings, 'webhooks' | 'faults'> & {
  /** The URL that receives its webhooks. */
  webhookUrl: string
}

/** Error rates per deposit of the demonstration's service, so that there are mismatches to see. */
const faults = { seed: 'demonstration', dropWebhookRate: 0.08, shortForwardRate: 0.08 }

/** Starts the deposit service of the demonstration. */
export function startDemoService({ webhookUrl, ...settings }: DemoServiceSettings): Promise<DepositService> {
  const webhooks = [{ url: webhookUrl, secret: settings.secrets.webhookSecret }]
  return startSandboxService({ ...settings, webhooks, faults })
}
