// Requests to the server. The token is kept until the tab is closed.

let token = sessionStorage.getItem("kft-token") || "";

export function setToken(value) {
  token = value;
  sessionStorage.setItem("kft-token", value);
}

// A Failure has the code and the field of the server's error.
export class Failure extends Error {
  constructor(status, error) {
    super(error.message);
    this.status = status;
    this.code = error.code;
    this.field = error.field;
  }
}

async function request(path, options = {}) {
  const headers = { ...options.headers };
  if (token) headers.Authorization = "Bearer " + token;
  let response;
  try {
    response = await fetch(path, { ...options, headers });
  } catch {
    throw new Failure(0, { code: "unreachable", message: "The server does not answer." });
  }
  const body = await response.json().catch(() => ({ error: { code: "internal", message: "The server's answer is not JSON." } }));
  if (!response.ok) throw new Failure(response.status, body.error);
  return body;
}

export const get = (path, query) => request(query ? path + "?" + new URLSearchParams(query) : path);

export const post = (path, body) => request(path, { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" } });
