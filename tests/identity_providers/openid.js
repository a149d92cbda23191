// A certified OpenID provider (npm oidc-provider) as a process for the tests: prints its address, ends with its input.
// People are made and changed by POST /people; who signs in is chosen in the form that it shows.
import { createServer } from "node:http";
import Provider from "oidc-provider";

const [redirectUri, backChannel, afterLogout] = process.argv.slice(2);
const people = new Map();

const body = async (request) => {
  let text = "";
  for await (const chunk of request) text += chunk;
  return text;
};

const server = createServer();
server.listen(0, "127.0.0.1", () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: "openbook",
        client_secret: "a secret of the client that is long enough",
        redirect_uris: [redirectUri],
        post_logout_redirect_uris: [afterLogout],
        backchannel_logout_uri: backChannel,
        backchannel_logout_session_required: true,
      },
    ],
    claims: {
      openid: ["sub"],
      profile: ["name", "preferred_username"],
      email: ["email", "email_verified"],
      groups: ["groups"],
    },
    cookies: { keys: ["a key of the tests"] },
    features: {
      devInteractions: { enabled: false },
      backchannelLogout: { enabled: true },
      rpInitiatedLogout: { enabled: true },
    },
    // It asks no address of its own machine otherwise.
    fetch: (address, { dispatcher: _, ...options }) => fetch(address, options),
    findAccount: (_, sub) => people.has(sub) && { accountId: sub, claims: () => ({ sub, ...people.get(sub) }) },
    interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
    loadExistingGrant: async (context) => {
      const { client, session } = context.oidc;
      const grant = new context.oidc.provider.Grant({ clientId: client.clientId, accountId: session.accountId });
      grant.addOIDCScope("openid profile email groups");
      await grant.save();
      return grant;
    },
  });
  for (const event of ["backchannel.error", "server_error"])
    provider.on(event, (_, error) => console.error(event, error.message, error.cause?.message ?? ""));
  const answer = provider.callback();
  server.on("request", async (request, response) => {
    if (request.url === "/people") {
      const { sub, ...claims } = JSON.parse(await body(request));
      people.set(sub, claims);
      return response.end();
    }
    if (!request.url.startsWith("/interaction/")) return answer(request, response);
    if (request.method === "GET") {
      await provider.interactionDetails(request, response);
      response.setHeader("content-type", "text/html");
      return response.end(`<title>Company</title><form method="post" action="${request.url}">
        <input name="login"><button>Sign in</button><button name="cancel" value="yes">Cancel</button></form>`);
    }
    const form = new URLSearchParams(await body(request));
    const result = form.has("cancel")
      ? { error: "access_denied", error_description: "The person does not want to." }
      : { login: { accountId: form.get("login") } };
    return provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
  });
  console.log(issuer);
});
process.stdin.resume().on("end", () => process.exit());
